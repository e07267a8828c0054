"""Makes the synchronous client from the asynchronous one: ``python make_sync.py [--check]``."""

from __future__ import annotations

import re
import sys
from pathlib import Path

FOLDER = Path(__file__).parent / "src" / "scrapifie"
WORDS = [
    ("import asyncio\n", "import time\n"),
    ("asyncio.sleep", "time.sleep"),
    ("asynccontextmanager", "contextmanager"),
    ("_async_transport", "_sync_transport"),
    ("httpx.AsyncClient", "httpx.Client"),
    ("httpx.AsyncBaseTransport", "httpx.BaseTransport"),
    ("AsyncIterator", "Iterator"),
    ("__aiter__", "__iter__"),
    ("__aenter__", "__enter__"),
    ("__aexit__", "__exit__"),
    (".aread()", ".read()"),
    (".aclose()", ".close()"),
    (".aiter_bytes()", ".iter_bytes()"),
    ("The asynchronous client. The synchronous one is made from this file by ``make_sync.py``.",
     "The synchronous client, made from ``_async_client.py`` by ``make_sync.py``: change that one."),
]


def synchronous(text: str) -> str:
    for old, new in WORDS:
        text = text.replace(old, new)
    text = re.sub(r"\b(async|await) ", "", text)
    return re.sub(r"\bAsync(?=[A-Z])", "", text)


def main() -> int:
    stale = 0
    for name in ("transport", "client"):
        made = synchronous((FOLDER / f"_async_{name}.py").read_text())
        target = FOLDER / f"_sync_{name}.py"
        if "--check" in sys.argv[1:]:
            stale += not target.exists() or target.read_text() != made
        else:
            target.write_text(made)
    if stale:
        print("The synchronous client is stale: run make_sync.py")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())

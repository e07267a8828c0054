"""When a request is repeated, and after which pause."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime

_RETRIED_STATUSES = frozenset({408, 425, 429, 500, 503})


@dataclass(frozen=True)
class RetryOptions:
    #: How often a request is repeated after its first try; 0: never.
    max_retries: int = 4
    #: The longest pause before the first repetition, in seconds; it doubles with each.
    base_delay: float = 0.5
    #: No pause is longer, unless the server asks for it.
    max_delay: float = 8.0
    #: A server that asks for a longer pause is not asked again: its error is raised.
    max_retry_after: float = 60.0


def proxy_code(status: int) -> str:
    """The code of an answer that is not the server's own."""
    return f"HTTP_{status}"


def is_retried_answer(status: int, code: str) -> bool:
    """Whether an answer says that the request may work later.

    502 and 504 with a code of the server are about the page that was asked for, which the server has tried several times
    itself; without one they come from a proxy in between.
    """
    if status in (502, 504):
        return code == proxy_code(status)
    return status in _RETRIED_STATUSES


def retry_after_of(header: str | None, sent: str | None = None) -> float | None:
    """The pause that ``Retry-After`` asks for: seconds, or a date. None when there is none or it cannot be read.

    A date is by the clock of the server, whose ``Date`` comes along as ``sent``.
    """
    if header is None:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    at = _time_of(header)
    if at is None:
        return None
    now = (None if sent is None else _time_of(sent)) or datetime.now(timezone.utc)
    return max(0.0, (at - now).total_seconds())


def _time_of(header: str) -> datetime | None:
    try:
        at = parsedate_to_datetime(header)
    except (TypeError, ValueError):
        return None
    return at if at.tzinfo is not None else at.replace(tzinfo=timezone.utc)


def delay_before(attempt: int, asked: float | None, options: RetryOptions) -> float:
    """The pause before repetition ``attempt`` (0 is the first): full jitter, never shorter than the server asked for."""
    if asked is not None:
        return asked + random.random() * options.base_delay
    return random.random() * min(options.max_delay, options.base_delay * 2.0**attempt)

"""Runs the scenarios with this client and prints one line for each: ``python scenarios.py [--async]``."""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import re
import sys
import time
import urllib.request
from typing import Any

from scrapifie import AsyncScrapifie, RetryOptions, Scrapifie, ScrapifieError, verify_webhook

ENVIRONMENT = os.environ
RETRIES = RetryOptions(base_delay=0.02, max_retry_after=3.0)
EVENTUAL = 20.0
LOOK = 0.2
#: What calls take by position in this language.
POSITIONAL = {"scrape": "url", "map": "url", "batch": "urls"}


def snake(name: str) -> str:
    return re.sub("([A-Z])", lambda found: "_" + found.group(1).lower(), name)


def mismatch(value: Any, expected: Any, at: str = "answer") -> str | None:
    """Why a value is not what was expected, as in ``scenarios/match.ts``."""
    if not isinstance(expected, dict):
        return None if value == expected else f"{at} is {value!r}, not {expected!r}"[:300]
    for name, wanted in expected.items():
        if name == "$length":
            found = mismatch(len(value), wanted, f"length of {at}")
        elif name == "$atLeast":
            size = len(value) if isinstance(value, list) else value
            found = None if size >= wanted else f"{at} has or is {size}, less than {wanted}"
        elif name == "$each":
            problems = (mismatch(each, wanted, f"{at}[{index}]") for index, each in enumerate(value))
            found = next((each for each in problems if each), None)
        elif name == "$some":
            found = None if any(mismatch(each, wanted) is None for each in value) else f"{at} has no entry like {wanted}"
        elif name == "$text":
            found = None if wanted in value else f"{at} has no {wanted}"
        elif name == "$type":
            found = None if type_of(value) == wanted else f"{at} is a {type_of(value)}, not a {wanted}"
        else:
            found = mismatch(field_of(value, name), wanted, f"{at}.{name}")
        if found:
            return found
    return None


def field_of(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)


def type_of(value: Any) -> str:
    kinds = {dict: "object", list: "list", str: "string", bool: "boolean", int: "number", float: "number"}
    return kinds.get(type(value), "null")


def filled(value: Any, saved: dict[str, Any]) -> Any:
    def replace(found: re.Match[str]) -> str:
        path = found.group(1)
        if path == "site":
            return ENVIRONMENT["SITE_URL"]
        at: Any = saved
        for name in path.split("."):
            at = at[name]
        return json.dumps(at)[1:-1]

    return json.loads(re.sub(r"\{(site|[a-z]+\.[A-Za-z.]+)\}", replace, json.dumps(value)))


def set_faults(faults: list[str]) -> None:
    address = ENVIRONMENT["SCRAPIFIE_URL"] + "/__faults"
    request = urllib.request.Request(address, data=json.dumps(faults).encode(), method="PUT")
    urllib.request.urlopen(request).read()


async def make(client: Any, step: dict[str, Any]) -> Any:
    call = step["call"]
    request = dict(step.get("request", {}))
    if call == "verifyWebhook":
        return verify_webhook(request["body"], request["headers"], request["secret"], now=request["now"])
    target = client
    for name in call.split("."):
        target = getattr(target, snake(name))
    values = [step["id"]] if "id" in step else []
    values += [step[name] for name in ("url", "against", "text") if name in step]
    if call in POSITIONAL:
        values.append(request.pop(POSITIONAL[call]))
    named = {**request, **step.get("query", {})}
    if "idempotencyKey" in step:
        named["idempotency_key"] = step["idempotencyKey"]
    answer = target(*values, **named)
    if inspect.isawaitable(answer):
        answer = await answer
    if hasattr(answer, "__aiter__"):
        return joined([each async for each in answer])
    if hasattr(answer, "__iter__") and not isinstance(answer, (dict, list, str)):
        return joined(list(answer))
    return answer


def joined(items: list[Any]) -> Any:
    """Chunks of bytes become a text."""
    return b"".join(items).decode() if items and isinstance(items[0], bytes) else items


async def check(client: Any, step: dict[str, Any], saved: dict[str, Any]) -> str | None:
    try:
        answer = await make(client, step)
    except ScrapifieError as error:
        if "error" not in step:
            raise
        return mismatch({"code": error.code, "status": getattr(error, "status", None)}, step["error"], "error")
    if "error" in step:
        return "it succeeded"
    if "save" in step:
        saved[step["save"]] = answer
    return mismatch(answer, step.get("expect", {}))


async def check_until(client: Any, step: dict[str, Any], saved: dict[str, Any]) -> str | None:
    """Background work of the server is waited for."""
    end_at = time.monotonic() + (EVENTUAL if step.get("isEventual") else 0)
    while True:
        problem = await check(client, step, saved)
        if problem is None or time.monotonic() >= end_at:
            return problem
        await asyncio.sleep(LOOK)


async def run(client: Any, scenario: dict[str, Any]) -> str | None:
    saved: dict[str, Any] = {}
    set_faults(scenario.get("faults", []))
    for index, step in enumerate(scenario["steps"]):
        if "faults" in step:
            set_faults(step["faults"])
        problem = await check_until(client, filled(step, saved), saved)
        if problem:
            return f"step {index + 1} ({step['call']}): {problem}"
    set_faults([])
    return None


async def main() -> None:
    kind = AsyncScrapifie if "--async" in sys.argv[1:] else Scrapifie
    client: Any = kind(ENVIRONMENT["SCRAPIFIE_URL"], ENVIRONMENT["SCRAPIFIE_KEY"], retries=RETRIES, max_answer_bytes=4 * 1024**2)
    with open(ENVIRONMENT["SCENARIOS"], encoding="utf-8") as file:
        scenarios = json.load(file)
    for scenario in scenarios:
        try:
            message = await run(client, scenario)
        except Exception as error:  # noqa: BLE001 - every failure is reported with its scenario
            message = f"{type(error).__name__}: {error}"
        print(json.dumps({"name": scenario["name"], "ok": message is None, "message": message}), flush=True)
    closed = client.close()
    if inspect.isawaitable(closed):
        await closed


asyncio.run(main())

"""Server-sent events, by the rules of the HTML standard."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class StreamedEvent:
    #: None where the stream cannot go on behind the event.
    id: str | None
    type: str
    data: Any


class EventParser:
    """Takes lines and gives an event whenever one is complete."""

    def __init__(self) -> None:
        self._clear()

    def take(self, line: str) -> StreamedEvent | None:
        if line == "":
            return self._event()
        if line.startswith(":"):
            return None
        field, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if field == "id":
            self._id = value
        elif field == "event":
            self._type = value
        elif field == "data":
            self._data.append(value)
        return None

    def _event(self) -> StreamedEvent | None:
        event = StreamedEvent(self._id, self._type or "message", _parsed("\n".join(self._data))) if self._data else None
        self._clear()
        return event

    def _clear(self) -> None:
        self._id: str | None = None
        self._type = ""
        self._data: list[str] = []


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text

"""Sends requests and repeats those that failed for a reason that passes."""

from __future__ import annotations

import asyncio
import json
import uuid
from contextlib import asynccontextmanager
from typing import Any, AsyncIterator, Mapping

import httpx

from .errors import ApiError, BadAnswerError, ConnectionError, ScrapifieError, TimeoutError, api_error_of
from .retries import RetryOptions, delay_before, is_retried_answer, proxy_code, retry_after_of

#: The most that is read of the body of an error.
_MOST_ERROR_BYTES = 1024**2


class AsyncTransport:
    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        timeout: float,
        retries: RetryOptions,
        max_answer_bytes: int,
        headers: Mapping[str, str] | None,
        transport: httpx.AsyncBaseTransport | None,
    ) -> None:
        self._retries = retries
        self._max_answer_bytes = max_answer_bytes
        self._timeout = timeout
        self._http = httpx.AsyncClient(
            base_url=base_url.rstrip("/"),
            headers={"accept": "application/json", **(headers or {}), "authorization": f"Bearer {api_key}"},
            timeout=timeout,
            transport=transport,
        )

    async def close(self) -> None:
        await self._http.aclose()

    async def json(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> Any:
        """``data`` of the answer."""
        headers = _headers_of(method, idempotency_key)
        attempt = 0
        while True:
            try:
                response = await self._send(method, path, query, body, headers, timeout)
                try:
                    raw = await _start_of(response, self._max_answer_bytes)
                finally:
                    await response.aclose()
                if len(raw) > self._max_answer_bytes:
                    raise BadAnswerError(f"{method} {path}: the answer has more than {self._max_answer_bytes} bytes.")
                return _data_of(raw)
            except httpx.TransportError as error:
                failure: ScrapifieError = _failure_of(method, path, error)
            except ApiError as error:
                failure = error
            await self._pause_or_raise(failure, attempt)
            attempt += 1

    @asynccontextmanager
    async def open(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        accept: str,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> AsyncIterator[AsyncIterator[str]]:
        """Lines of the answer's body as they come.

        A body that breaks off raises ConnectionError, one of another content type or with a line that is too long
        BadAnswerError.
        """
        headers = {**_headers_of(method, None), **(headers or {}), "accept": accept}
        response = await self._opened(method, path, query, body, headers, timeout)
        try:
            _check_type(response, accept)
            yield _lines_of(response, method, path, self._max_answer_bytes)
        finally:
            await response.aclose()

    @asynccontextmanager
    async def open_bytes(
        self, method: str, path: str, *, headers: Mapping[str, str] | None = None
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        """Bytes of the answer's body as they come. A body that breaks off raises ConnectionError."""
        response = await self._opened(method, path, None, None, {**_headers_of(method, None), **(headers or {})}, None)
        try:
            yield _chunks_of(response, method, path)
        finally:
            await response.aclose()

    async def _opened(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any] | None,
        body: Any,
        headers: Mapping[str, str],
        timeout: float | None,
    ) -> httpx.Response:
        attempt = 0
        while True:
            try:
                return await self._send(method, path, query, body, headers, timeout)
            except httpx.TransportError as error:
                failure: ScrapifieError = _failure_of(method, path, error)
            except ApiError as error:
                failure = error
            await self._pause_or_raise(failure, attempt)
            attempt += 1

    async def _send(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any] | None,
        body: Any,
        headers: Mapping[str, str],
        timeout: float | None,
    ) -> httpx.Response:
        request = self._http.build_request(
            method,
            path,
            params=_parameters_of(query),
            json=body,
            headers=dict(headers),
            timeout=self._timeout if timeout is None else timeout,
        )
        response = await self._http.send(request, stream=True)
        if response.status_code < 400:
            return response
        try:
            raw = await _start_of(response, _MOST_ERROR_BYTES)
        finally:
            await response.aclose()
        asked = retry_after_of(response.headers.get("retry-after"), response.headers.get("date"))
        request_id = response.headers.get("x-request-id")
        raise api_error_of(response.status_code, _error_of(raw, response.status_code), request_id, asked)

    async def _pause_or_raise(self, failure: ScrapifieError, attempt: int) -> None:
        asked = None
        if isinstance(failure, ApiError):
            asked = failure.retry_after
            if not is_retried_answer(failure.status, failure.code):
                raise failure
        if attempt >= self._retries.max_retries or (asked or 0) > self._retries.max_retry_after:
            raise failure
        await asyncio.sleep(delay_before(attempt, asked, self._retries))


async def _chunks_of(response: httpx.Response, method: str, path: str) -> AsyncIterator[bytes]:
    try:
        async for chunk in response.aiter_bytes():
            yield chunk
    except httpx.TransportError as error:
        raise _failure_of(method, path, error) from error


async def _lines_of(response: httpx.Response, method: str, path: str, most_bytes: int) -> AsyncIterator[str]:
    """Lines without their ends. Only line feeds end them: other separators of Unicode may stand within JSON."""
    rest = bytearray()
    async for chunk in _chunks_of(response, method, path):
        *lines, last = chunk.split(b"\n")
        for line in lines:
            yield (bytes(rest) + line).decode(errors="replace").rstrip("\r")
            rest.clear()
        rest += last
        if len(rest) > most_bytes:
            raise BadAnswerError(f"{method} {path}: a line of the stream has more than {most_bytes} bytes.")
    if rest:
        yield rest.decode(errors="replace")


async def _start_of(response: httpx.Response, most_bytes: int) -> bytes:
    """The body; of a longer one the beginning, with more than so many bytes."""
    read = bytearray()
    async for chunk in response.aiter_bytes():
        read += chunk
        if len(read) > most_bytes:
            break
    return bytes(read)


def _check_type(response: httpx.Response, wanted: str) -> None:
    found = response.headers.get("content-type", "")
    if not found.lower().startswith(wanted):
        raise BadAnswerError(f'The answer has the content type "{found}", not {wanted}.')


def parsed(text: str | bytes) -> Any:
    """The value of a text of JSON. Raises BadAnswerError when the text is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadAnswerError("The answer is not JSON.") from error


def _data_of(raw: bytes) -> Any:
    answer = parsed(raw)
    data = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(data, dict):
        raise BadAnswerError("The answer is JSON without the data of an answer.")
    return data


def _headers_of(method: str, idempotency_key: str | None) -> dict[str, str]:
    """The key stays the same over all tries, so that a request whose answer was lost creates nothing twice."""
    return {"idempotency-key": idempotency_key or str(uuid.uuid4())} if method == "POST" else {}


def _parameters_of(query: Mapping[str, Any] | None) -> dict[str, str]:
    given = {name: value for name, value in (query or {}).items() if value is not None}
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in given.items()}


def _failure_of(method: str, path: str, error: Exception) -> ScrapifieError:
    if isinstance(error, httpx.TimeoutException):
        return TimeoutError(f"{method} {path}: no answer in time.")
    return ConnectionError(f"{method} {path}: {error or type(error).__name__}")


def _error_of(raw: bytes, status: int) -> Mapping[str, Any]:
    """A proxy in between answers with bodies of its own."""
    try:
        error = json.loads(raw)["error"]
        if isinstance(error["code"], str):
            return dict(error)
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    code = proxy_code(status)
    message = f"The answer has the status {status}."
    return {"code": code, "message": message, "retryable": is_retried_answer(status, code)}

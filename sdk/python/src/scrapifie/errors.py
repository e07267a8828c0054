"""Errors of the client. Every one has a ``code``: of the server, or of the client itself."""

from __future__ import annotations

from typing import Any, Mapping


class ScrapifieError(Exception):
    """What every error of this client has in common."""

    def __init__(self, code: str, message: str, *, is_retryable: bool = False) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        #: Whether the same request may work after a pause.
        self.is_retryable = is_retryable


class ApiError(ScrapifieError):
    """The server answered with an error."""

    def __init__(
        self,
        status: int,
        error: Mapping[str, Any],
        request_id: str | None,
        retry_after: float | None,
    ) -> None:
        super().__init__(
            str(error.get("code")), str(error.get("message")), is_retryable=bool(error.get("retryable"))
        )
        self.status = status
        details = error.get("details")
        #: One entry for each wrong field, or whatever else the server adds to its code.
        self.details: list[Any] = details if isinstance(details, list) else []
        self.request_id = request_id
        #: The pause that the server asked for, in seconds.
        self.retry_after = retry_after


class AuthenticationError(ApiError):
    """401: no key, or one that is unknown, expired or revoked."""


class PermissionError(ApiError):  # noqa: A001 - named as in the other languages
    """403: the key lacks a scope, or the operator has not consented."""


class CreditsExhaustedError(ApiError):
    """402: the account cannot pay for one page."""


class NotFoundError(ApiError):
    """404 and 410: no such resource for this account, or none any more."""


class ConflictError(ApiError):
    """409."""


class ValidationError(ApiError):
    """422 and 400: ``problems`` names the wrong fields."""

    @property
    def problems(self) -> list[Any]:
        return self.details


class RateLimitError(ApiError):
    """429, after all retries."""


class ServerError(ApiError):
    """5xx, after all retries."""


class ConnectionError(ScrapifieError):  # noqa: A001 - named as in the other languages
    """The server could not be reached, or the connection broke, after all retries."""

    def __init__(self, message: str) -> None:
        super().__init__("CONNECTION_FAILED", message, is_retryable=True)


class BadAnswerError(ScrapifieError):
    """The server, or a proxy in between, answered with success and a body that is no answer of the API.

    Such as a page of HTML, JSON without ``data``, a body beyond ``max_answer_bytes``, a cursor that leads nowhere. It is not
    asked for again.
    """

    def __init__(self, message: str) -> None:
        super().__init__("BAD_ANSWER", message)


class TimeoutError(ScrapifieError):  # noqa: A001 - named as in the other languages
    """The time limit of one request, or of waiting for a job, is over."""

    def __init__(self, message: str) -> None:
        super().__init__("TIMED_OUT", message, is_retryable=True)


class JobFailedError(ScrapifieError):
    """A job that was waited for has failed or was cancelled."""

    def __init__(self, job: Mapping[str, Any]) -> None:
        super().__init__("JOB_FAILED", f"The job {job['id']} has ended as {job['status']}.")
        self.job = job


class SignatureError(ScrapifieError):
    """A webhook whose signature is wrong or too old."""

    def __init__(self, message: str) -> None:
        super().__init__("BAD_SIGNATURE", message)


_KINDS: dict[int, type[ApiError]] = {
    400: ValidationError,
    401: AuthenticationError,
    402: CreditsExhaustedError,
    403: PermissionError,
    404: NotFoundError,
    409: ConflictError,
    410: NotFoundError,
    422: ValidationError,
    429: RateLimitError,
}


def api_error_of(
    status: int, error: Mapping[str, Any], request_id: str | None, retry_after: float | None
) -> ApiError:
    kind = _KINDS.get(status, ServerError if status >= 500 else ApiError)
    return kind(status, error, request_id, retry_after)

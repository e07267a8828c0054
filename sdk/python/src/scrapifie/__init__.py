"""Client of the Scrapifie API."""

from ._async_client import AsyncScrapifie
from ._sync_client import Scrapifie
from .errors import (
    ApiError,
    AuthenticationError,
    BadAnswerError,
    ConflictError,
    ConnectionError,
    CreditsExhaustedError,
    JobFailedError,
    NotFoundError,
    PermissionError,
    RateLimitError,
    ScrapifieError,
    ServerError,
    SignatureError,
    TimeoutError,
    ValidationError,
)
from .retries import RetryOptions
from .streams import StreamedEvent
from .webhooks import verify_webhook

__all__ = [
    "ApiError",
    "AsyncScrapifie",
    "AuthenticationError",
    "BadAnswerError",
    "ConflictError",
    "ConnectionError",
    "CreditsExhaustedError",
    "JobFailedError",
    "NotFoundError",
    "PermissionError",
    "RateLimitError",
    "RetryOptions",
    "Scrapifie",
    "ScrapifieError",
    "ServerError",
    "SignatureError",
    "StreamedEvent",
    "TimeoutError",
    "ValidationError",
    "verify_webhook",
]

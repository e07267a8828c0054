"""Verifies webhooks by the headers of Standard Webhooks."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from typing import Any, Mapping, Sequence

from .errors import SignatureError


def verify_webhook(
    body: str | bytes,
    headers: Mapping[str, str],
    secret: str | Sequence[str],
    *,
    tolerance_seconds: float = 300,
    now: float | None = None,
) -> dict[str, Any]:
    """Verifies a webhook and returns its event. ``body`` is the body as it came, before any parsing.

    Raises SignatureError when the message is not signed by one of the secrets, or when its time is too far from now.
    """
    lower = {name.lower(): value for name, value in headers.items()}
    message_id, timestamp = lower.get("webhook-id"), lower.get("webhook-timestamp")
    signatures = lower.get("webhook-signature")
    if not message_id or not timestamp or not signatures:
        raise SignatureError("The headers of a signed webhook are missing.")
    if not timestamp.isascii() or not timestamp.isdigit():
        raise SignatureError("webhook-timestamp is no time.")
    if abs((time.time() if now is None else now) - int(timestamp)) > tolerance_seconds:
        raise SignatureError("The message is too old or too new.")
    raw = body.encode() if isinstance(body, str) else body
    message = f"{message_id}.{timestamp}.".encode() + raw
    given = [each[3:].encode() for each in signatures.split(" ") if each.startswith("v1,")]
    for each in [secret] if isinstance(secret, str) else secret:
        digest = base64.b64encode(hmac.new(_key_of(each), message, hashlib.sha256).digest())
        if any(hmac.compare_digest(digest, signature) for signature in given):
            event: dict[str, Any] = json.loads(raw)
            return event
    raise SignatureError("No signature fits.")


def _key_of(secret: str) -> bytes:
    """Behind ``whsec_`` stands a key in base64; any other secret is the key itself."""
    if not secret.startswith("whsec_"):
        return secret.encode()
    try:
        return base64.b64decode(secret[6:], validate=True)
    except binascii.Error as error:
        raise SignatureError("The secret is not in base64.") from error

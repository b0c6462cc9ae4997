"""Webhooks by the Standard Webhooks specification: the check of a message, and the answers of `client.webhooks`."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import standardwebhooks
from pydantic import BaseModel, ConfigDict, ValidationError

from ._answers import read_json
from ._secrets import bare_key
from .models import WebhookDelivery, WebhookEndpoint, WebhookSecret

__all__ = [
    "WebhookDelivery",
    "WebhookEndpoint",
    "WebhookEvent",
    "WebhookSecret",
    "WebhookVerificationError",
    "verify_webhook",
]


class WebhookVerificationError(Exception):
    """The message is not from the marketplace, is older or newer than five minutes, or is not an event. Answer 400."""


class WebhookEvent(BaseModel):
    """One event. It is delivered at least once, always with the same `id`: drop ids that you have seen."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    id: str
    """The header `webhook-id`."""
    type: str
    """Such as `execution.completed`."""
    timestamp: datetime
    data: dict[str, Any]
    """JSON, where numbers with a fraction are `Decimal`."""


def verify_webhook(body: bytes, headers: Mapping[str, str], secret: str) -> WebhookEvent:
    """Returns the event of a request to your endpoint.

    `body`: the bytes exactly as they came. `secret`: `whsec_...` of the endpoint. Raises WebhookVerificationError, or
    ValueError for a malformed secret.
    """
    try:
        verifier = standardwebhooks.Webhook(bare_key(secret))
    except Exception as error:
        raise ValueError("the secret must be whsec_ followed by base64") from error
    given = {name.lower(): value for name, value in headers.items()}
    try:
        verifier.verify(body, given, json_parse=False)
        return WebhookEvent.model_validate({**read_json(body), "id": given["webhook-id"]})
    except standardwebhooks.WebhookVerificationError as error:
        raise WebhookVerificationError(str(error)) from error
    except (ValidationError, TypeError) as error:
        raise WebhookVerificationError("the message is not an event with type, timestamp and data") from error
    except ValueError as error:
        # The library splits and decodes the headers without checks.
        raise WebhookVerificationError("the headers or the body are malformed") from error

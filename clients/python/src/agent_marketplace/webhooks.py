"""Webhooks of the marketplace, by the Standard Webhooks specification."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import standardwebhooks
from pydantic import BaseModel, ConfigDict, ValidationError

from ._calls import read_json

__all__ = ["WebhookEvent", "WebhookVerificationError", "verify_webhook"]


class WebhookVerificationError(Exception):
    """The message is not the marketplace's, is older or newer than five minutes, or is no event. Answer with 400."""


class WebhookEvent(BaseModel):
    """One event. Its delivery is at least once: `id` stays the same, so drop ids that you have seen."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    id: str
    """The header `webhook-id`."""
    type: str
    """Such as `execution.completed`."""
    timestamp: datetime
    data: dict[str, Any]
    """JSON, where numbers with a fraction are `Decimal`."""


def verify_webhook(body: bytes, headers: Mapping[str, str], secret: str) -> WebhookEvent:
    """The event in a request to your endpoint.

    `body`: the bytes exactly as they came. `secret`: `whsec_...` of the endpoint. Raises WebhookVerificationError, and
    ValueError for a malformed secret.
    """
    try:
        verifier = standardwebhooks.Webhook(secret)
    except Exception as error:
        raise ValueError("the secret must be whsec_ and base64") from error
    given = {name.lower(): value for name, value in headers.items()}
    try:
        verifier.verify(body, given, json_parse=False)
        return WebhookEvent.model_validate({**read_json(body), "id": given["webhook-id"]})
    except standardwebhooks.WebhookVerificationError as error:
        raise WebhookVerificationError(str(error)) from error
    except (ValidationError, TypeError) as error:
        raise WebhookVerificationError("the message is no event with type, timestamp and data") from error
    except ValueError as error:
        # The library splits and decodes the headers without a check of its own.
        raise WebhookVerificationError("the headers or the body are malformed") from error

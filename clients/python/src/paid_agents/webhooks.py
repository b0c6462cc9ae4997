"""Webhooks by the Standard Webhooks specification: the check of a message, and the answers of `client.webhooks`."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

import standardwebhooks
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ._answers import read_json
from ._secrets import bare_key
from .models import Model

__all__ = [
    "WebhookDelivery",
    "WebhookEndpoint",
    "WebhookEvent",
    "WebhookSecret",
    "WebhookVerificationError",
    "verify_webhook",
]


class WebhookEndpoint(Model):
    """An endpoint that receives events of the wallet."""

    endpoint_id: str
    url: str
    event_types: list[str]
    """Empty for all types."""
    status: Literal["active", "failing", "disabled"]
    """`failing`: the last attempt failed. `disabled`: nothing is sent."""
    failing_since: datetime | None
    """Time of the first failed attempt since the last success."""
    disabled_at: datetime | None
    disabled_by: Literal["wallet", "failures"] | None
    """The wallet itself, or the marketplace after days of failures."""
    old_secret_until: datetime | None
    """Until then messages are also signed with the secret before the last rotation."""
    created_at: datetime


class WebhookSecret(Model):
    """A new endpoint, or one with a new secret."""

    endpoint: WebhookEndpoint
    secret: str = Field(repr=False)
    """`whsec_...` for `verify_webhook`. It is not shown again."""


class WebhookDelivery(Model):
    """One event that was or will be sent to an endpoint, with the last attempt."""

    delivery_id: str
    endpoint_id: str
    event_id: str
    """The `id` of the event."""
    event_type: str
    execution_id: str | None
    status: Literal["pending", "delivered", "failed"]
    attempts: int
    next_attempt_at: datetime | None
    """None once it is delivered or has failed."""
    attempted_at: datetime | None
    duration_ms: int | None
    http_status: int | None
    body: str | None
    """The first KiB of the answer, as text."""
    error: str | None
    """Why no answer came, or why the answer does not count."""
    created_at: datetime


class WebhookEndpoints(Model):
    endpoints: list[WebhookEndpoint]


class WebhookId(Model):
    endpoint_id: str


class WebhookDeliveryPage(Model):
    deliveries: list[WebhookDelivery]
    total: int
    limit: int
    offset: int


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

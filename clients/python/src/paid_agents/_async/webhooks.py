"""The wallet's webhook endpoints and their deliveries."""

import builtins
from collections.abc import Sequence

from .. import _routes, models
from ._group import AsyncListing, AsyncResource


class AsyncWebhooks(AsyncResource):
    """Manages the wallet's webhook endpoints. Needs a key with the scope `webhooks`; changes are not retried."""

    async def list(self) -> builtins.list[models.WebhookEndpoint]:
        """The wallet's endpoints, the oldest first."""
        return await self._transport.run(_routes.webhook_endpoints(self._service))

    async def create(self, url: str, *, event_types: Sequence[str] = ()) -> models.WebhookSecret:
        """Adds an endpoint. Only this answer contains its secret, which `verify_webhook` needs.

        `event_types`: such as `execution.completed`; empty for all.
        """
        return await self._transport.run(_routes.create_webhook(self._service, url, event_types))

    async def retrieve(self, endpoint_id: str) -> models.WebhookEndpoint:
        """One endpoint."""
        return await self._transport.run(_routes.webhook_endpoint(self._service, endpoint_id))

    async def update(
        self,
        endpoint_id: str,
        *,
        url: str | None = None,
        event_types: Sequence[str] | None = None,
        enabled: bool | None = None,
    ) -> models.WebhookEndpoint:
        """Changes only the given fields. `enabled=False` stops sending events to the endpoint."""
        flow = _routes.update_webhook(self._service, endpoint_id, url, event_types, enabled)
        return await self._transport.run(flow)

    async def delete(self, endpoint_id: str) -> None:
        """Deletes an endpoint and its delivery log."""
        await self._transport.run(_routes.delete_webhook(self._service, endpoint_id))

    async def rotate_secret(self, endpoint_id: str) -> models.WebhookSecret:
        """Replaces the secret. For 24 hours, messages are also signed with the old one."""
        return await self._transport.run(_routes.rotate_webhook_secret(self._service, endpoint_id))

    async def test(self, endpoint_id: str) -> None:
        """Sends `webhook.test`. Read the outcome from the deliveries."""
        await self._transport.run(_routes.test_webhook(self._service, endpoint_id))

    def deliveries(
        self, endpoint_id: str, *, limit: int = _routes.PAGE, offset: int = 0
    ) -> AsyncListing[models.WebhookDelivery]:
        """The messages sent to an endpoint and their answers, newest first; `limit` is the page size, 1 to 100."""
        return AsyncListing(self._transport, _routes.delivery_pages(self._service, endpoint_id, limit), offset)

    async def redeliver(self, delivery_id: str) -> models.WebhookDelivery:
        """Sends the event of a delivery once more, as a new delivery."""
        return await self._transport.run(_routes.redeliver_webhook(self._service, delivery_id))

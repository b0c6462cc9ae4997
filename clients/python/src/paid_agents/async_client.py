"""The client for asyncio. client.py is made from it: `npm run build:client`."""

import builtins
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from types import TracebackType
from typing import Any, Generic, Literal

import httpx

from . import _paid, _routes, models, webhooks
from ._calls import Payment, Service
from ._drive import AsyncTransport
from ._events import Following
from ._flow import Deadline, OnDelta
from ._routes import FetchPage, Item
from .receipts import Receipt, Verification
from .receipts import _flows as receipt_flows

__all__ = ["AsyncClient"]

AgentSort = Literal["total_executions", "success_rate", "price_asc", "price_desc", "created_at", "best"]
ExecutionStatus = Literal["pending", "running", "completed", "failed", "disputed"]


class AsyncClient:
    """The marketplace's API. Use one client for the whole program; it keeps connections open.

    Methods raise `MarketplaceError`. Reads and paid calls are retried up to `max_retries` times after lost connections
    and temporary errors. An idempotency key prevents a second payment. `timeout` is the limit of one request, in
    seconds. `payment` pays for each `agents.run` from a wallet: see `paid_agents.x402.pay_with_x402`.
    """

    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        timeout: float = _routes.DEFAULT_TIMEOUT,
        max_retries: int = _routes.DEFAULT_MAX_RETRIES,
        user_agent: str | None = None,
        payment: Payment | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        service = _routes.service_of(base_url, api_key, timeout, max_retries, user_agent, payment)
        self._transport = AsyncTransport(lambda: httpx.AsyncClient(transport=transport))
        self.base_url = service.base_url
        self.agents = AsyncAgents(service, self._transport)
        self.executions = AsyncExecutions(service, self._transport)
        self.statements = AsyncStatements(service, self._transport)
        self.webhooks = AsyncWebhooks(service, self._transport)

    async def close(self) -> None:
        """Closes the connections."""
        await self._transport.close()

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"AsyncClient({self.base_url!r})"


class AsyncListing(Generic[Item]):
    """Iterate over it for all items, or over `pages()`. Each iteration starts again with the first page."""

    def __init__(self, transport: AsyncTransport, fetch: FetchPage[Item], offset: int) -> None:
        self._transport = transport
        self._fetch = fetch
        self._offset = offset

    async def pages(self) -> AsyncIterator[list[Item]]:
        offset = self._offset
        while True:
            items, total = await self._transport.run(self._fetch(offset))
            if items:
                yield items
            offset += len(items)
            if not items or offset >= total:
                return

    async def __aiter__(self) -> AsyncIterator[Item]:
        async for items in self.pages():
            for item in items:
                yield item


class AsyncResource:
    """A group of methods."""

    def __init__(self, service: Service, transport: AsyncTransport) -> None:
        self._service = service
        self._transport = transport


class AsyncAgents(AsyncResource):
    def list(
        self,
        *,
        q: str | None = None,
        tags: Sequence[str] | None = None,
        creator: str | None = None,
        min_success_rate: float | None = None,
        min_executions: int | None = None,
        verified_only: bool | None = None,
        sort: AgentSort | None = None,
        limit: int = _routes.PAGE,
        offset: int = 0,
    ) -> AsyncListing[models.AgentSummary]:
        """All agents that match the filters; `limit` is the size of a page, 1 to 100."""
        filters = {
            "q": q,
            "tags": ",".join(tags) if tags else None,
            "creator": creator,
            "min_success_rate": min_success_rate,
            "min_executions": min_executions,
            "verified_only": verified_only,
            "sort": sort,
            "limit": limit,
        }
        return AsyncListing(self._transport, _routes.agent_pages(self._service, filters), offset)

    async def retrieve(self, agent_id: str) -> models.Agent:
        """One agent in full."""
        return await self._transport.run(_routes.agent(self._service, agent_id))

    async def statistics(self, agent_id: str) -> models.AgentStatistics:
        """Success and latency for each of the last 30 days."""
        return await self._transport.run(_routes.agent_statistics(self._service, agent_id))

    async def run(
        self,
        agent_id: str,
        *,
        task: str,
        parameters: Mapping[str, Any] | None = None,
        max_cost_usdc: Decimal | str | int | None = None,
        timeout: float | None = _routes.RUN_TIMEOUT,
        timeout_seconds: int | None = None,
        idempotency_key: str | None = None,
        on_delta: OnDelta | None = None,
    ) -> models.CompletedExecution:
        """Pays for one execution, waits for its end and returns the result.

        `max_cost_usdc`: the marketplace opens no escrow if the price is higher (`PriceChangedError`). The chain itself
        enforces only the limits of your API key. A client with a `payment` requires it, and checks it itself,
        including the service fee.
        `timeout`: how long to wait, in seconds; None waits until the end. After that it raises `WaitTimeoutError` with
        the execution's id. The execution continues and may still be paid.
        `timeout_seconds`: how long the agent may take; then the price is refunded.
        `idempotency_key`: random by default. Choose it yourself to retry the call after a crash.
        `on_delta`: called with the output as the agent writes it, if the agent streams. The output is not verified:
        only the result is signed and paid. After a lost connection only the result arrives.
        """
        call = _paid.execute_call(
            agent_id,
            task,
            parameters,
            max_cost_usdc,
            timeout_seconds,
            idempotency_key,
            is_async=False,
            on_delta=on_delta,
        )
        return await self._transport.run(_paid.run(self._service, call, timeout))


class AsyncExecutions(AsyncResource):
    async def create(
        self,
        agent_id: str,
        *,
        task: str,
        parameters: Mapping[str, Any] | None = None,
        max_cost_usdc: Decimal | str | int | None = None,
        timeout_seconds: int | None = None,
        idempotency_key: str | None = None,
    ) -> models.StartedExecution | models.CompletedExecution:
        """Pays for one execution and returns at once; see `agents.run`. Use `wait` to wait for the end.

        A retry with the same idempotency key after the end returns the result.
        """
        call = _paid.execute_call(
            agent_id, task, parameters, max_cost_usdc, timeout_seconds, idempotency_key, is_async=True
        )
        return await self._transport.run(_paid.create(self._service, call))

    async def start(
        self,
        execution_id: str,
        *,
        task: str,
        parameters: Mapping[str, Any] | None = None,
        wallet_signature: str | None = None,
    ) -> models.StartedExecution | models.CompletedExecution:
        """Starts an execution that its wallet opened itself."""
        call = _paid.start_call(execution_id, task, parameters, wallet_signature, is_async=True)
        return await self._transport.run(_paid.create(self._service, call))

    async def retrieve(self, execution_id: str) -> models.Execution:
        """One record in full."""
        return await self._transport.run(_routes.execution(self._service, execution_id))

    def list(
        self,
        *,
        status: ExecutionStatus | None = None,
        agent_id: str | None = None,
        key_id: str | None = None,
        idempotency_key: str | None = None,
        from_: datetime | None = None,
        to: datetime | None = None,
        limit: int = _routes.PAGE,
        offset: int = 0,
    ) -> AsyncListing[models.ExecutionSummary]:
        """The wallet's records, newest first; `from_` and `to` are exclusive and need a time zone.

        `idempotency_key`: only the execution of the call with this key, such as `error.idempotency_key`. If there is
        none, no call with it has begun.
        """
        filters = {
            "status": status,
            "agent_id": agent_id,
            "key_id": key_id,
            "idempotency_key": idempotency_key,
            "from": _routes.instant(from_),
            "to": _routes.instant(to),
            "limit": limit,
        }
        return AsyncListing(self._transport, _routes.execution_pages(self._service, filters), offset)

    async def wait(self, execution_id: str, *, timeout: float | None = _routes.RUN_TIMEOUT) -> models.Execution:
        """Waits for an execution to end: `completed`, `failed` (refunded) or `disputed`. Returns its record.

        Raises `WaitTimeoutError` after `timeout` seconds; the execution continues.
        """
        return await self._transport.run(_paid.wait(self._service, execution_id, Deadline(timeout)))

    async def events(
        self,
        execution_id: str,
        *,
        after: str | None = None,
    ) -> AsyncGenerator[models.ExecutionEvent, None]:
        """Iterates over the events of an execution, from the first until it has ended. Lost connections are resumed.

        `after` is the id of the last event that you have.
        """
        following = Following(self._service, execution_id, after)
        try:
            while (event := await self._transport.run(following.next())) is not None:
                yield event
        finally:
            await self._transport.run(following.close())

    async def receipt(self, execution_id: str) -> Receipt:
        """The proof that a settled execution was answered and paid."""
        return await self._transport.run(receipt_flows.fetch(self._service, execution_id))

    async def verify(self, execution_id: str, *, rpc_url: str | None) -> Verification:
        """Fetches the receipt and checks it with a Solana node. `rpc_url=None` skips the checks that need a node."""
        return await self._transport.run(receipt_flows.verify_execution(self._service, execution_id, rpc_url))

    async def archive(self, execution_id: str) -> models.ArchiveAnswer:
        """The proof of an archived execution; needs no key."""
        return await self._transport.run(_routes.archive(self._service, execution_id))

    async def delete_content(self, execution_id: str) -> models.DeletedContent:
        """Permanently deletes task, parameters and result from the service."""
        return await self._transport.run(_routes.delete_content(self._service, execution_id))


class AsyncStatements(AsyncResource):
    async def daily(
        self, *, role: Literal["caller", "creator"] | None = None, from_: date | None = None, to: date | None = None
    ) -> models.DailyStatement:
        """The amounts that the wallet paid or earned per UTC day; at most 92 days."""
        return await self._transport.run(_routes.daily(self._service, role, from_, to))

    async def spend(self, *, from_: date | None = None, to: date | None = None) -> models.SpendStatement:
        """The amounts that the wallet paid, per UTC day, API key and agent."""
        return await self._transport.run(_routes.spend(self._service, from_, to))


class AsyncWebhooks(AsyncResource):
    """Manages the wallet's webhook endpoints. Needs a key with the scope `webhooks`; changes are not retried."""

    async def list(self) -> builtins.list[webhooks.WebhookEndpoint]:
        """The wallet's endpoints, the oldest first."""
        return await self._transport.run(_routes.webhook_endpoints(self._service))

    async def create(self, url: str, *, event_types: Sequence[str] = ()) -> webhooks.WebhookSecret:
        """Adds an endpoint. Only this answer contains its secret, which `verify_webhook` needs.

        `event_types`: such as `execution.completed`; empty for all.
        """
        return await self._transport.run(_routes.create_webhook(self._service, url, event_types))

    async def retrieve(self, endpoint_id: str) -> webhooks.WebhookEndpoint:
        """One endpoint."""
        return await self._transport.run(_routes.webhook_endpoint(self._service, endpoint_id))

    async def update(
        self,
        endpoint_id: str,
        *,
        url: str | None = None,
        event_types: Sequence[str] | None = None,
        enabled: bool | None = None,
    ) -> webhooks.WebhookEndpoint:
        """Changes only the given fields. `enabled=False` stops sending events to the endpoint."""
        flow = _routes.update_webhook(self._service, endpoint_id, url, event_types, enabled)
        return await self._transport.run(flow)

    async def delete(self, endpoint_id: str) -> None:
        """Deletes an endpoint and its delivery log."""
        await self._transport.run(_routes.delete_webhook(self._service, endpoint_id))

    async def rotate_secret(self, endpoint_id: str) -> webhooks.WebhookSecret:
        """Replaces the secret. For 24 hours, messages are also signed with the old one."""
        return await self._transport.run(_routes.rotate_webhook_secret(self._service, endpoint_id))

    async def test(self, endpoint_id: str) -> None:
        """Sends `webhook.test`. Read the outcome from the deliveries."""
        await self._transport.run(_routes.test_webhook(self._service, endpoint_id))

    def deliveries(
        self, endpoint_id: str, *, limit: int = _routes.PAGE, offset: int = 0
    ) -> AsyncListing[webhooks.WebhookDelivery]:
        """The messages sent to an endpoint and their answers, newest first; `limit` is the page size, 1 to 100."""
        return AsyncListing(self._transport, _routes.delivery_pages(self._service, endpoint_id, limit), offset)

    async def redeliver(self, delivery_id: str) -> webhooks.WebhookDelivery:
        """Sends the event of a delivery once more, as a new delivery."""
        return await self._transport.run(_routes.redeliver_webhook(self._service, delivery_id))

"""Finding agents, and paid calls of them."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Literal

from .. import _paid, _routes, models
from .._flow import OnDelta
from ._group import AsyncListing, AsyncResource

AgentSort = Literal["total_executions", "success_rate", "price_asc", "price_desc", "created_at", "best"]


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

"""The client for asyncio. client.py is made from it: `npm run build:client`."""

from types import TracebackType

import httpx

from . import _routes
from ._async.agents import AsyncAgents
from ._async.executions import AsyncExecutions
from ._async.statements import AsyncStatements
from ._async.webhooks import AsyncWebhooks
from ._calls import Payment
from ._drive import AsyncTransport

__all__ = ["AsyncClient"]


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

"""Executions: start, wait, list, receipts."""

from collections.abc import AsyncGenerator, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal

from .. import _paid, _routes, models
from .._events import ExecutionEvent, Following
from .._flow import Deadline
from ..receipts import Receipt, Verification
from ..receipts import _flows as receipt_flows
from ._group import AsyncListing, AsyncResource

ExecutionStatus = Literal["pending", "running", "completed", "failed", "disputed"]


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
    ) -> AsyncGenerator[ExecutionEvent, None]:
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

    async def archive(self, execution_id: str) -> models.Archive:
        """The proof of an archived execution; needs no key."""
        return await self._transport.run(_routes.archive(self._service, execution_id))

    async def delete_content(self, execution_id: str) -> models.DeletedContent:
        """Permanently deletes task, parameters and result from the service."""
        return await self._transport.run(_routes.delete_content(self._service, execution_id))

"""Statements of what the wallet paid and earned."""

from datetime import date
from typing import Literal

from .. import _routes, models
from ._group import AsyncResource


class AsyncStatements(AsyncResource):
    async def daily(
        self, *, role: Literal["caller", "creator"] | None = None, from_: date | None = None, to: date | None = None
    ) -> models.DailyStatement:
        """The amounts that the wallet paid or earned per UTC day; at most 92 days."""
        return await self._transport.run(_routes.daily(self._service, role, from_, to))

    async def spend(self, *, from_: date | None = None, to: date | None = None) -> models.SpendStatement:
        """The amounts that the wallet paid, per UTC day, API key and agent."""
        return await self._transport.run(_routes.spend(self._service, from_, to))

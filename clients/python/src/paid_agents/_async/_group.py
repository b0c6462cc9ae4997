"""The base of every group of methods, and the lists that they return."""

from collections.abc import AsyncIterator
from typing import Generic

from .._calls import Service
from .._drive import AsyncTransport
from .._routes import FetchPage, Item


class AsyncResource:
    """A group of methods."""

    def __init__(self, service: Service, transport: AsyncTransport) -> None:
        self._service = service
        self._transport = transport


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

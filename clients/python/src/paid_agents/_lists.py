"""Lists that fetch their pages as they are read."""

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Generic, TypeVar

from ._drive import AsyncTransport, Transport
from ._flow import Flow

Item = TypeVar("Item")


FetchPage = Callable[[int], Flow[tuple[list[Item], int]]]
"""Reads the page that begins at this offset. Returns its items and the total number."""


class Listing(Generic[Item]):
    """Iterate over it for all items, or over `pages()`. Each iteration starts again with the first page."""

    def __init__(self, transport: Transport, fetch: FetchPage[Item], offset: int) -> None:
        self._transport = transport
        self._fetch = fetch
        self._offset = offset

    def pages(self) -> Iterator[list[Item]]:
        offset = self._offset
        while True:
            items, total = self._transport.run(self._fetch(offset))
            if items:
                yield items
            offset += len(items)
            if not items or offset >= total:
                return

    def __iter__(self) -> Iterator[Item]:
        for items in self.pages():
            yield from items


class AsyncListing(Generic[Item]):
    """`Listing` for `async for`."""

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

"""Streams a creator's output while it is made, to a marketplace that accepts it. The signed answer comes at the end."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

EVENT_STREAM = "text/event-stream"
MAX_BYTES = 1024 * 1024
"""The marketplace reads at most 5 MiB of deltas and answer together. This leaves room for the answer."""


class Deltas:
    """The stream of one response, which begins with its first delta."""

    def __init__(self, accept: str) -> None:
        kinds = [part.split(";")[0].strip().lower() for part in accept.split(",")]
        self._left = MAX_BYTES if EVENT_STREAM in kinds else 0
        self._loop = asyncio.get_running_loop()
        self._events: asyncio.Queue[bytes | None] = asyncio.Queue()

    def put(self, text: str) -> None:
        """Sends a part of the output; from any thread. Does nothing if the call accepts no stream."""
        event = _event("delta", json.dumps({"text": text}).encode())
        self._left -= len(event)
        if self._left >= 0:
            self._loop.call_soon_threadsafe(self._events.put_nowait, event)

    async def stream(self, answer: "asyncio.Future[bytes]", send: Callable[[Any], Awaitable[None]]) -> bool:
        """Sends deltas as they come, then the answer. False if there were no deltas: then send the answer as usual."""
        answer.add_done_callback(lambda _: self._events.put_nowait(None))
        is_open = False
        while (event := await self._events.get()) is not None:
            if not is_open:
                headers = [(b"content-type", EVENT_STREAM.encode()), (b"cache-control", b"no-store")]
                await send({"type": "http.response.start", "status": 200, "headers": headers})
                is_open = True
            await send({"type": "http.response.body", "body": event, "more_body": True})
        if is_open:
            await send({"type": "http.response.body", "body": _event("result", answer.result())})
        return is_open


def _event(name: str, data: bytes) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (name.encode(), data)

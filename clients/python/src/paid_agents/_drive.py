"""Runs flows: `Transport` over a blocking httpx client, `AsyncTransport` over an asynchronous one."""

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass, replace
from typing import Any, cast
from weakref import WeakKeyDictionary

import httpx
from httpx_sse import EventSource, ServerSentEvent

from ._flow import (
    Answer,
    Block,
    Close,
    Flow,
    NoAnswerError,
    NoAnswerInTimeError,
    Receive,
    Reply,
    Send,
    Sleep,
    Step,
    T,
)
from ._secrets import without_secrets

log = logging.getLogger("paid_agents")


class Transport:
    def __init__(self, client: httpx.Client) -> None:
        self._client = client

    def run(self, flow: Flow[T]) -> T:
        try:
            step = next(flow)
            while True:
                try:
                    reply = self._do(step)
                except NoAnswerError as error:
                    step = flow.throw(error)
                else:
                    step = flow.send(reply)
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]

    def _do(self, step: Step) -> Reply:
        if isinstance(step, Sleep):
            time.sleep(step.seconds)
            return None
        if isinstance(step, Block):
            return step.call()
        if isinstance(step, Receive | Close):
            return self._follow(step)
        started = time.monotonic()
        try:
            with ExitStack() as connection:
                response = connection.enter_context(
                    self._client.stream(
                        step.method, step.url, headers=step.headers, content=step.body, timeout=step.timeout
                    )
                )
                if step.keeps_open and _is_streamed(response):
                    opened = _Open(step, EventSource(response).iter_sse(), connection.pop_all())
                    return replace(_answered(step, response, started, b""), stream=opened)
                output = _Output.of(step, response)
                if output is not None:
                    return output.end(next(filter(output.take, output.source.iter_sse()), None))
                response.read()
        except httpx.HTTPError as error:
            raise _failed(step, error) from _shown_cause(error)
        return _answered(step, response, started)

    def _follow(self, step: Receive | Close) -> ServerSentEvent | None:
        opened = cast("_Open", step.answer.stream)
        if isinstance(step, Close):
            opened.connection.close()
            return None
        try:
            return next(opened.events, None)
        except httpx.HTTPError as error:
            raise _failed(opened.request, error) from _shown_cause(error)

    def close(self) -> None:
        self._client.close()


class AsyncTransport:
    """Has a client of its own for each event loop: connections belong to the loop that opened them."""

    def __init__(self, create: Callable[[], httpx.AsyncClient]) -> None:
        self._create = create
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, httpx.AsyncClient] = WeakKeyDictionary()

    @property
    def _client(self) -> httpx.AsyncClient:
        loop = asyncio.get_running_loop()
        client = self._clients.get(loop)
        if client is None:
            client = self._clients[loop] = self._create()
        return client

    async def run(self, flow: Flow[T]) -> T:
        try:
            step = next(flow)
            while True:
                try:
                    reply = await self._do(step)
                except NoAnswerError as error:
                    step = flow.throw(error)
                else:
                    step = flow.send(reply)
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]

    async def _do(self, step: Step) -> Reply:
        if isinstance(step, Sleep):
            await asyncio.sleep(step.seconds)
            return None
        if isinstance(step, Block):
            return await asyncio.to_thread(step.call)
        if isinstance(step, Receive | Close):
            return await self._follow(step)
        started = time.monotonic()
        try:
            async with AsyncExitStack() as connection:
                response = await connection.enter_async_context(
                    self._client.stream(
                        step.method, step.url, headers=step.headers, content=step.body, timeout=step.timeout
                    )
                )
                if step.keeps_open and _is_streamed(response):
                    opened = _AsyncOpen(step, EventSource(response).aiter_sse(), connection.pop_all())
                    return replace(_answered(step, response, started, b""), stream=opened)
                output = _Output.of(step, response)
                if output is not None:
                    async for event in output.source.aiter_sse():
                        if output.take(event):
                            return output.end(event)
                    return output.end(None)
                await response.aread()
        except httpx.HTTPError as error:
            raise _failed(step, error) from _shown_cause(error)
        return _answered(step, response, started)

    async def _follow(self, step: Receive | Close) -> ServerSentEvent | None:
        opened = cast("_AsyncOpen", step.answer.stream)
        if isinstance(step, Close):
            await opened.connection.aclose()
            return None
        try:
            return await anext(opened.events, None)
        except httpx.HTTPError as error:
            raise _failed(opened.request, error) from _shown_cause(error)

    async def close(self) -> None:
        await self._client.aclose()


@dataclass(frozen=True)
class _Open:
    """An answer that is left open: its events, and the stack that closes its connection."""

    request: Send
    events: Iterator[ServerSentEvent]
    connection: ExitStack


@dataclass(frozen=True)
class _AsyncOpen:
    request: Send
    events: AsyncIterator[ServerSentEvent]
    connection: AsyncExitStack


def _is_streamed(response: httpx.Response) -> bool:
    kind = response.headers.get("content-type", "").split(";")[0].strip().lower()
    return response.is_success and kind == "text/event-stream"


class _Output:
    """Reads a streamed answer: deltas go to the caller, and the last event is the answer."""

    def __init__(self, step: Send, response: httpx.Response) -> None:
        self._step = step
        self._response = response
        self._started = time.monotonic()
        self._latest: bytes | None = None
        self.source = EventSource(cast("httpx.Response", _Timed(response, step.until)))

    @staticmethod
    def of(step: Send, response: httpx.Response) -> "_Output | None":
        return _Output(step, response) if step.on_delta is not None and _is_streamed(response) else None

    def take(self, event: ServerSentEvent) -> bool:
        """True for the event that ends the stream."""
        if event.event == "delta" and self._step.on_delta is not None:
            self._step.on_delta(_text_of(event.data, "text"))
        if event.event == "execution":
            self._latest = event.data.encode()
            if self._step.on_execution is not None:
                self._step.on_execution(_text_of(event.data, "execution_id"))
        return event.event in ("result", "error")

    def end(self, last: ServerSentEvent | None) -> Answer:
        """The answer of the last event, or of the latest `execution` event if the stream ends too early."""
        body = self._latest if last is None else last.data.encode()
        if body is None:
            raise NoAnswerError("the stream ended before its first event")
        is_error = last is not None and last.event == "error"
        return _answered(self._step, self._response, self._started, body, is_error)


class _Timed:
    """A response that ends at its deadline, even while only heartbeats arrive. httpx limits only each part."""

    def __init__(self, response: httpx.Response, until: float) -> None:
        self.headers = response.headers
        self._response = response
        self._until = until

    def iter_text(self) -> Iterator[str]:
        for text in self._response.iter_text():
            self._check()
            yield text

    async def aiter_text(self) -> AsyncIterator[str]:
        async for text in self._response.aiter_text():
            self._check()
            yield text

    def _check(self) -> None:
        if time.monotonic() > self._until:
            raise NoAnswerInTimeError("the stream did not end before the timeout")


def _text_of(data: str, name: str) -> str:
    try:
        value: Any = json.loads(data)
    except ValueError:
        return ""
    text = cast("dict[str, Any]", value).get(name) if isinstance(value, dict) else None
    return text if isinstance(text, str) else ""


# The log has no headers and bodies, because they contain the key, the task and the result.


def _failed(step: Send, error: httpx.HTTPError) -> NoAnswerError:
    log.debug("%s %s: no answer, %s", step.method, _shown(step.url), type(error).__name__)
    kind = NoAnswerInTimeError if isinstance(error, httpx.TimeoutException) else NoAnswerError
    return kind(without_secrets(str(error)) or type(error).__name__)


def _shown_cause(error: httpx.HTTPError) -> httpx.HTTPError | None:
    """The error for a traceback, unless its text has a secret."""
    return error if without_secrets(str(error)) == str(error) else None


def _answered(
    step: Send, response: httpx.Response, started: float, body: bytes | None = None, is_error: bool = False
) -> Answer:
    headers = {name.lower(): value for name, value in response.headers.items()}
    took = (time.monotonic() - started) * 1000
    request_id = headers.get("x-request-id", "none")
    log.debug("%s %s: %d in %.0f ms, request %s", step.method, _shown(step.url), response.status_code, took, request_id)
    return Answer(response.status_code, headers, response.content if body is None else body, is_error)


def _shown(url: str) -> str:
    """The host and path, without query and credentials: nodes often have their key in the URL."""
    parsed = httpx.URL(url)
    return f"{parsed.host}{parsed.path}"

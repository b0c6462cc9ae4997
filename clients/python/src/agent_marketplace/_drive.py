"""Runs flows: `Transport` over a blocking httpx client, `AsyncTransport` over an asynchronous one."""

import asyncio
import logging
import time

import httpx

from ._flow import Answer, Flow, NoAnswerError, NoAnswerInTimeError, Send, Sleep, T

log = logging.getLogger("agent_marketplace")


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

    def _do(self, step: Send | Sleep) -> Answer | None:
        if isinstance(step, Sleep):
            time.sleep(step.seconds)
            return None
        started = time.monotonic()
        try:
            response = self._client.request(
                step.method, step.url, headers=step.headers, content=step.body, timeout=step.timeout
            )
        except httpx.HTTPError as error:
            raise _failed(step, error) from error
        return _answered(step, response, started)

    def close(self) -> None:
        self._client.close()


class AsyncTransport:
    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client

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

    async def _do(self, step: Send | Sleep) -> Answer | None:
        if isinstance(step, Sleep):
            await asyncio.sleep(step.seconds)
            return None
        started = time.monotonic()
        try:
            response = await self._client.request(
                step.method, step.url, headers=step.headers, content=step.body, timeout=step.timeout
            )
        except httpx.HTTPError as error:
            raise _failed(step, error) from error
        return _answered(step, response, started)

    async def close(self) -> None:
        await self._client.aclose()


# The log has neither headers nor bodies: they hold the key, the task and the result.


def _failed(step: Send, error: httpx.HTTPError) -> NoAnswerError:
    log.debug("%s %s: no answer, %s", step.method, _shown(step.url), type(error).__name__)
    kind = NoAnswerInTimeError if isinstance(error, httpx.TimeoutException) else NoAnswerError
    return kind(str(error) or type(error).__name__)


def _answered(step: Send, response: httpx.Response, started: float) -> Answer:
    headers = {name.lower(): value for name, value in response.headers.items()}
    took = (time.monotonic() - started) * 1000
    request_id = headers.get("x-request-id", "none")
    log.debug("%s %s: %d in %.0f ms, request %s", step.method, _shown(step.url), response.status_code, took, request_id)
    return Answer(response.status_code, headers, response.content)


def _shown(url: str) -> str:
    """Without the query and without credentials: nodes often have their key in the URL."""
    parsed = httpx.URL(url)
    return f"{parsed.host}{parsed.path}"

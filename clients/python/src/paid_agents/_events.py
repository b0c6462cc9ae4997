"""Follows the events of an execution, and reconnects as often as needed. Each event is a separate flow."""

from dataclasses import replace
from datetime import datetime
from typing import Literal

from ._answers import read, unexpected
from ._calls import Call, Service, ask, path_of
from ._flow import Answer, Flow, NoAnswerError, close, receive, sleep
from ._model import Model, Usdc

RESUME_PAUSE = 1.0
"""Seconds before a broken or ended stream is resumed."""


class ExecutionEventData(Model):
    execution_id: str
    agent_id: str
    status: Literal["pending", "running", "completed", "failed", "disputed"]
    cost_usdc: Usdc
    """The price; 0 if the execution failed."""
    error_code: str | None
    """Why it failed; None for other events, and if only the chain knows it."""


class ExecutionEvent(Model):
    """An event of an execution."""

    id: str
    """A later event has a larger number."""
    type: str
    """Such as `execution.completed`."""
    timestamp: datetime
    data: ExecutionEventData

    @property
    def is_ended(self) -> bool:
        """True for the last event."""
        return self.type in ("execution.completed", "execution.failed")


class Following:
    """The position in the events of an execution."""

    def __init__(self, service: Service, execution_id: str, after: str | None) -> None:
        self._service = service
        self._path = path_of("v1", "executions", execution_id, "events")
        self._last_id = after
        self._answer: Answer | None = None
        self._is_over = False

    def next(self) -> Flow[ExecutionEvent | None]:
        """The next event; None after the last one. Raises MarketplaceError like a read."""
        while not self._is_over:
            if self._answer is None:
                yield from self._open()
                continue
            try:
                event = yield from receive(self._answer)
            except NoAnswerError:
                event = None
            if event is None:
                yield from self.close()
                yield from sleep(RESUME_PAUSE)
                continue
            self._last_id = event.id or self._last_id
            # Skip heartbeats, which have no name, and disputes, which come after the end.
            if event.event.startswith("execution."):
                answer = replace(self._answer, body=event.data.encode())
                found = read(ExecutionEvent, answer, self._service.base_url)
                self._is_over = found.is_ended
                return found
        return None

    def close(self) -> Flow[None]:
        """Closes the connection, if one is open."""
        if self._answer is not None:
            yield from close(self._answer)
            self._answer = None

    def _open(self) -> Flow[None]:
        headers = {"accept": "text/event-stream"}
        if self._last_id is not None:
            headers["last-event-id"] = self._last_id
        answer = yield from ask(self._service, Call("GET", self._path, headers=headers, keeps_open=True))
        if answer.status == 204:
            self._is_over = True
        elif answer.stream is None:
            raise unexpected(answer, self._service.base_url, "and no events. Is it the address of a marketplace?")
        else:
            self._answer = answer

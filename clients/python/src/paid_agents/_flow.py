"""Requests without input and output: a flow is a generator that yields steps and receives their results.

The client, the polling and the checks of receipts are written once as flows. `_drive.py` runs a flow over a blocking or
an asynchronous httpx client.
"""

import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import TypeVar

from httpx_sse import ServerSentEvent

T = TypeVar("T")

OnDelta = Callable[[str], None]
"""Receives the output of an agent as it is written."""

OnExecution = Callable[[str], None]
"""Receives the id of a call's execution as soon as its stream names it."""


@dataclass(frozen=True)
class Send:
    """Send this request. The flow gets an Answer, or one of the two exceptions below."""

    method: str
    url: str = field(repr=False)
    headers: dict[str, str] = field(default_factory=dict[str, str], repr=False)
    body: bytes | None = field(default=None, repr=False)
    timeout: float = 60.0
    on_delta: OnDelta | None = None
    """Receives the output of a streamed answer; `timeout` is then for the next part of it."""
    on_execution: OnExecution | None = None
    until: float = float("inf")
    """The deadline of a streamed answer, by the monotonic clock."""
    keeps_open: bool = False
    """Leaves a good streamed answer open, for Receive and Close; `timeout` is then for each part of it."""


@dataclass(frozen=True)
class Sleep:
    """Wait for this many seconds."""

    seconds: float


@dataclass(frozen=True)
class Block:
    """Call this function, which may block. The flow gets its return value."""

    call: Callable[[], str]


@dataclass(frozen=True)
class Answer:
    """An HTTP answer. Names of headers are in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes = field(repr=False)
    is_error: bool = False
    """True for the error at the end of a stream, whose status was sent before."""
    stream: object = None
    """The connection of an answer that was left open, for the code that runs the flow."""


@dataclass(frozen=True)
class Receive:
    """Read the next event of an open answer. The flow gets None at its end, or one of the two exceptions below."""

    answer: Answer


@dataclass(frozen=True)
class Close:
    """Close the connection of an open answer."""

    answer: Answer


class NoAnswerError(Exception):
    """The connection failed or broke off."""


class NoAnswerInTimeError(NoAnswerError):
    """The time limit of the request has passed."""


Step = Send | Sleep | Block | Receive | Close
Reply = Answer | ServerSentEvent | str | None
Flow = Generator[Step, Reply, T]


def send(request: Send) -> Flow[Answer]:
    answer = yield request
    if not isinstance(answer, Answer):
        raise TypeError("the driver of a flow must send it the answer to its request")
    return answer


def sleep(seconds: float) -> Flow[None]:
    yield Sleep(seconds)


def receive(answer: Answer) -> Flow[ServerSentEvent | None]:
    event = yield Receive(answer)
    if event is not None and not isinstance(event, ServerSentEvent):
        raise TypeError("the driver of a flow must send it the event that it waits for")
    return event


def close(answer: Answer) -> Flow[None]:
    yield Close(answer)


def block(call: Callable[[], str]) -> Flow[str]:
    value = yield Block(call)
    if not isinstance(value, str):
        raise TypeError("the driver of a flow must send it the result of its function")
    return value


class Deadline:
    """The end of a wait. Without `seconds` there is no end."""

    def __init__(self, seconds: float | None) -> None:
        self.end = float("inf") if seconds is None else time.monotonic() + seconds

    def left(self) -> float:
        return self.end - time.monotonic()

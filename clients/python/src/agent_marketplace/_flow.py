"""Requests without input and output: a flow is a generator that yields what to do and gets back what came of it.

The client, the polling and the checks of receipts are written once as flows. `_drive.py` runs a flow over a blocking or
an asynchronous httpx client.
"""

import time
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Send:
    """Send this request. The flow gets an Answer, or one of the two exceptions below."""

    method: str
    url: str
    headers: dict[str, str] = field(default_factory=dict[str, str])
    body: bytes | None = None
    timeout: float = 60.0


@dataclass(frozen=True)
class Sleep:
    """Wait for this many seconds."""

    seconds: float


@dataclass(frozen=True)
class Answer:
    """An HTTP answer. Names of headers are in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes


class NoAnswerError(Exception):
    """The connection failed or broke off."""


class NoAnswerInTimeError(NoAnswerError):
    """The time limit of the request is over."""


Flow = Generator[Send | Sleep, Answer | None, T]


def send(request: Send) -> Flow[Answer]:
    answer = yield request
    if answer is None:
        raise TypeError("whoever runs a flow must give it the answer to its request")
    return answer


def sleep(seconds: float) -> Flow[None]:
    yield Sleep(seconds)


class Deadline:
    """The end of a wait; without `seconds` there is none."""

    def __init__(self, seconds: float | None) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds

    def left(self) -> float:
        return float("inf") if self._end is None else self._end - time.monotonic()

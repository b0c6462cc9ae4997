"""Stores a creator's answers by execution id, so that a repeated call gets the same bytes and never runs twice.

It is bounded by age and size, and drops the least recently used first. It always keeps executions in progress, and
repeats share one run.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

_ENTRY_BYTES = 512
"""Approximate cost of an entry besides its answer, so that many small answers are bounded too."""


@dataclass
class _Entry:
    fingerprint: str
    """Hash of the request, so that an id cannot fetch the answer to another task."""
    answer: "asyncio.Future[bytes]"
    size: int = 0
    expires_at: float | None = None
    """By the monotonic clock; None while the execution is in progress."""


class Answers:
    def __init__(self, remember_seconds: float, remember_bytes: int) -> None:
        self._seconds = remember_seconds
        self._bytes = remember_bytes
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._total = 0

    def once(
        self, execution_id: str, fingerprint: str, run: Callable[[], Awaitable[bytes]]
    ) -> "asyncio.Future[bytes] | None":
        """Returns the answer for this id. Only the first call runs `run`, which must not raise.

        None if the id came with another request. Shield the answer: a cancelled waiter must not cancel it.
        """
        self._forget_old()
        known = self._entries.get(execution_id)
        if known is not None:
            if known.fingerprint != fingerprint:
                return None
            if known.expires_at is not None:
                self._use(execution_id, known)
            return known.answer
        entry = _Entry(fingerprint, asyncio.ensure_future(run()))
        self._entries[execution_id] = entry
        entry.answer.add_done_callback(lambda answer: self._done(execution_id, entry, answer))
        return entry.answer

    def _done(self, execution_id: str, entry: _Entry, answer: "asyncio.Future[bytes]") -> None:
        if answer.cancelled() or answer.exception() is not None:
            self._entries.pop(execution_id, None)  # The server is stopping: nothing was answered.
            return
        entry.size = len(answer.result()) + _ENTRY_BYTES
        self._total += entry.size
        self._use(execution_id, entry)
        self._forget_old()

    def _use(self, execution_id: str, entry: _Entry) -> None:
        entry.expires_at = time.monotonic() + self._seconds
        self._entries.move_to_end(execution_id)

    def _forget_old(self) -> None:
        now = time.monotonic()
        for execution_id, entry in list(self._entries.items()):
            if entry.expires_at is None:
                continue
            if entry.expires_at > now and self._total <= self._bytes:
                return
            del self._entries[execution_id]
            self._total -= entry.size

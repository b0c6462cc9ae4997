"""Answers the marketplace's calls with a function of yours: once, within the timeout, and signed.

    app = CreatorApp(execute, signing_key=load_signing_key("key.json"), marketplace_url="https://MARKETPLACE")

It is an ASGI app: `uvicorn module:app`, or `FastAPI().mount("/agent", app)`. To change the signing key without losing a
call: pass both keys, newest first, rotate the listing's key, and remove the old one after the longest timeout.
"""

import asyncio
import inspect
import json
import logging
import re
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from ..receipts.hashing import execution_message, hash_result, request_hash, sign_message
from ._answers import Answers
from ._deltas import Deltas
from ._request import ExecutionRequest, RequestError, invalid, parse_execution_request
from ._signing_key import signing_key_address

log = logging.getLogger("paid_agents.creator")
_MEBIBYTE = 1024 * 1024
_SURROGATE = re.compile("[\ud800-\udfff]")

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]


class ExecutionFailure(Exception):  # noqa: N818
    """Raise it for a reason that the caller may read. The text of any other error goes only to your own log."""


@dataclass(frozen=True)
class ExecutionOutput:
    result: str
    tokens_used: int | None = None
    """LLM tokens used, shown to callers."""
    steps: list[Any] | None = None
    """Reasoning trace, shown to callers."""


Output: TypeAlias = str | ExecutionOutput
Execute: TypeAlias = Callable[[ExecutionRequest], Output | Awaitable[Output]]


@dataclass(frozen=True)
class Limits:
    """Limits in bytes and seconds. 8 MiB: a caller's 1 MiB grows when numbers such as 1e20 are written out."""

    max_body_bytes: int = 8 * _MEBIBYTE
    max_answer_bytes: int = 5 * _MEBIBYTE
    """A longer answer becomes a failure with that reason. The default is the marketplace's own limit."""
    remember_seconds: float = 7_200
    """How long answers are kept for retries after their last use, and how many bytes in total."""
    remember_bytes: int = 64 * _MEBIBYTE


@dataclass
class CreatorApp:
    """An ASGI app that answers `POST` on any path below its mount point."""

    execute: Execute
    """Does the work: a coroutine function, which is cancelled at the deadline, or a plain function.

    A plain function runs in a thread, which cannot be stopped. After the deadline its result is not used.
    """
    signing_key: bytes | Sequence[bytes] = field(repr=False)
    """64 bytes, seed then public key: `load_signing_key`. Several keys, newest first, while a listing's key changes."""
    marketplace_url: str | None = None
    """Refuses calls that this marketplace did not sign, with 401. Without it anyone can run work here."""
    program_id: str | None = None
    """Base58 address of the marketplace's program. If given, answers also bind the result to the execution."""
    authority: str | None = None
    """Host (and port) of the listed endpoint, if a proxy in front of this server rewrites the Host header."""
    verifier: Any = None
    """Your own `CallVerifier`, in place of `marketplace_url`."""
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        keys = [self.signing_key] if isinstance(self.signing_key, bytes) else list(self.signing_key)
        if not keys or any(len(key) != 64 for key in keys):
            raise ValueError("signing_key must contain at least one key of 64 bytes")
        self._keys = {signing_key_address(key): key for key in keys}
        self._newest = keys[0]
        self._answers = Answers(self.limits.remember_seconds, self.limits.remember_bytes)
        if self.verifier is None and self.marketplace_url is not None:
            from .signatures import CallVerifier  # Needs the extra packages of paid-agents[creator].

            self.verifier = CallVerifier(self.marketplace_url, authority=self.authority)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _live(receive, send)
            return
        if scope["type"] != "http":
            raise RuntimeError(f"an agent answers HTTP only, not {scope['type']}")
        headers: dict[str, str] = {}
        try:
            request = await self._read(scope, receive)
            deltas = Deltas(_headers_of(scope).get("accept", ""))
            answer = asyncio.ensure_future(self._answer(replace(request, delta=deltas.put)))
            if await deltas.stream(answer, send):
                return
            body, status = await answer, 200
        except RequestError as error:
            status = error.status
            body = _json({"error": {"code": error.code, "message": error.message}})
            headers = {"allow": "POST"} if status == 405 else {}
        except _DisconnectedError:
            return  # The connection broke while the body was read, so there is nobody to answer.
        headers |= {"content-type": "application/json; charset=utf-8", "content-length": str(len(body))}
        raw = [(name.encode(), value.encode()) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": status, "headers": raw})
        await send({"type": "http.response.body", "body": body})

    async def _read(self, scope: Scope, receive: Receive) -> ExecutionRequest:
        if scope["method"] != "POST":
            raise RequestError(405, "method_not_allowed", "only POST is allowed for this path")
        headers = _headers_of(scope)
        if headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
            raise RequestError(415, "unsupported_media_type", "the body must be application/json")
        body = await _read_body(receive, self.limits.max_body_bytes)
        if self.verifier is not None:
            await self._verify(scope, headers, body)
        return parse_execution_request(body, headers)

    async def _verify(self, scope: Scope, headers: dict[str, str], body: bytes) -> None:
        from .signatures import KeysUnavailableError, ReceivedCall

        path = bytes(scope.get("raw_path") or str(scope["path"]).encode()).decode("latin-1").split("?")[0]
        call = ReceivedCall("POST", headers.get("host", ""), path, headers, body)
        try:
            is_signed = await self.verifier.verify(call)
        except KeysUnavailableError:
            # 503 makes the marketplace retry until its deadline.
            message = "cannot read the marketplace's keys; retry later"
            raise RequestError(503, "keys_unavailable", message) from None
        if not is_signed:
            raise RequestError(401, "unauthorized", "the call has no valid signature of the marketplace")

    async def _answer(self, request: ExecutionRequest) -> bytes:
        key = self._newest if request.signing_key is None else self._keys.get(request.signing_key)
        if key is None:
            # A result signed by another key is never paid, and without an answer the caller would wait until its
            # deadline. It is not kept, because the key may be added.
            return _failed(request, f"this server does not have the signing key {request.signing_key}")
        fingerprint = _fingerprint(request)
        answer = self._answers.once(request.execution_id, fingerprint, lambda: self._run(request, key, fingerprint))
        if answer is None:
            message = "this execution_id was used before with another task or parameters"
            raise RequestError(409, "execution_id_reused", message)
        # A lost connection must not end the work: the retry gets its answer.
        return await asyncio.shield(answer)

    async def _run(self, request: ExecutionRequest, key: bytes, fingerprint: str) -> bytes:
        """Runs the creator's function and returns the answer's bytes. Any error becomes the failure answer."""
        allowed = request.timeout_seconds
        work = asyncio.ensure_future(self._call(request))
        try:
            # A failure sent in time gives a refund with a reason. Reserve a tenth of the time for it, at most a second.
            # Not `wait_for`: a TimeoutError of the function itself would look like the deadline.
            done, _ = await asyncio.wait({work}, timeout=allowed - min(1.0, allowed / 10))
            if not done:
                return _failed(request, f"not finished within the timeout of {allowed} s")
            answer = self._completed(request, work.result(), key, fingerprint)
            if len(answer) <= self.limits.max_answer_bytes:
                return answer
            reason = f"the answer is {len(answer)} bytes, more than the {self.limits.max_answer_bytes} allowed"
        except ExecutionFailure as error:
            reason = str(error)
        except Exception:
            # Log no task, parameters and wallet, because they are the caller's.
            log.exception("execution %s failed", request.execution_id)
            reason = "the agent failed with an internal error"
        finally:
            work.cancel()
        return _failed(request, reason)

    async def _call(self, request: ExecutionRequest) -> Output:
        if inspect.iscoroutinefunction(self.execute) or inspect.iscoroutinefunction(
            getattr(self.execute, "__call__", None)  # noqa: B004
        ):
            made: Any = self.execute(request)
        else:
            made = await asyncio.to_thread(self.execute, request)
        output: Output = await made if inspect.isawaitable(made) else made
        return output

    def _completed(self, request: ExecutionRequest, output: Output, key: bytes, fingerprint: str) -> bytes:
        """Lone surrogates, which UTF-8 cannot carry, become U+FFFD before hashing."""
        given = ExecutionOutput(output) if isinstance(output, str) else output
        if not isinstance(given, ExecutionOutput) or not isinstance(given.result, str):
            raise TypeError("execute must return a str or an ExecutionOutput")
        result = _SURROGATE.sub("\ufffd", given.result)
        result_hash = hash_result(result)
        answer: dict[str, Any] = {
            "execution_id": request.execution_id,
            "status": "completed",
            "result": result,
            "result_hash": result_hash,
            "signature": sign_message(key, result_hash),
        }
        if self.program_id is not None:
            message = execution_message(self.program_id, request.execution_id, fingerprint, result_hash)
            answer["execution_signature"] = sign_message(key, message)
        if given.tokens_used is not None:
            answer["tokens_used"] = given.tokens_used
        if given.steps is not None:
            answer["steps"] = given.steps
        return _json(answer)


class _DisconnectedError(Exception):
    pass


def _fingerprint(request: ExecutionRequest) -> str:
    """The request hash as hex. It depends on task and parameters, not on the timeout."""
    try:
        return request_hash(request.task, request.parameters).hex()
    except ValueError:
        raise invalid(
            "task and parameters have no canonical JSON form: they have lone surrogates or are nested too deeply"
        ) from None


def _failed(request: ExecutionRequest, error: str) -> bytes:
    """The failure answer: nothing is signed, the caller is refunded and sees `error`."""
    nothing = {"result": None, "result_hash": None, "signature": None}
    return _json({"execution_id": request.execution_id, "status": "failed", **nothing, "error": error})


def _json(value: dict[str, Any]) -> bytes:
    """Lone surrogates, such as in a step that was cut within an emoji, become U+FFFD."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _SURROGATE.sub("\ufffd", text).encode()


def _headers_of(scope: Scope) -> dict[str, str]:
    """Names in lower case; repeated ones joined, as HTTP allows."""
    headers: dict[str, str] = {}
    for name, value in scope["headers"]:
        key, text = bytes(name).decode("latin-1").lower(), bytes(value).decode("latin-1")
        headers[key] = f"{headers[key]}, {text}" if key in headers else text
    return headers


async def _read_body(receive: Receive, max_bytes: int) -> bytes:
    """Reads and drops the rest of a body that is too large: a client that is cut off never sees the answer."""
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _DisconnectedError
        chunk = bytes(message.get("body", b""))
        size += len(chunk)
        if size <= max_bytes:
            chunks.append(chunk)
        else:
            chunks.clear()
        if not message.get("more_body", False):
            break
    if size > max_bytes:
        raise RequestError(413, "payload_too_large", f"the body must be at most {max_bytes} bytes")
    return b"".join(chunks)


async def _live(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        if message["type"] == "lifespan.startup":
            await send({"type": "lifespan.startup.complete"})
        elif message["type"] == "lifespan.shutdown":
            await send({"type": "lifespan.shutdown.complete"})
            return

"""What the clients send and keep secret, over transports that need no network."""

import asyncio
import codecs
import json
import logging
import tempfile
import threading
import traceback
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
from nacl.signing import SigningKey

from paid_agents import AsyncClient, Client, NotFoundError, ServiceUnavailableError
from paid_agents._secrets import origin_of
from paid_agents.creator import load_signing_key
from paid_agents.receipts import verify_receipt

signing_key = SigningKey(bytes(32))
secret = bytes(signing_key) + bytes(signing_key.verify_key)


def outcome(work: Any) -> BaseException | None:
    try:
        work()
    except Exception as error:
        return error
    return None


# Options of a client
assert "secret" not in repr(Client("http://127.0.0.1", "secret"))
for address in ("", "ftp://a", "http://", "https://user:pass@host"):
    assert isinstance(outcome(lambda address=address: Client(address)), ValueError), address

# Keys as files and clipboards give them, and no secret in an error
secret_key = "crtx_test_abcdefgh_" + "s" * 49
received_keys: list[str] = []
received_repeats: list[str] = []


def take(request: httpx.Request) -> httpx.Response:
    received_keys.append(request.headers["authorization"])
    received_repeats.append(request.headers.get("idempotency-key", "none"))
    return httpx.Response(404, json={"error": {"code": "agent_not_found", "message": "m"}})


PASTED = ("{}", "{}\n", "\ufeff{}\r\n", " {}\u200b ", "{}\u00a0", '"{}"', " '{}\n'\n", "Bearer {}")
for pasted in (form.format(secret_key) for form in PASTED):
    for address in ("http://m.example", "http://m.example/\n", '"http://m.example"', "\ufeff'http://m.example'\r\n"):
        with Client(address, pasted, transport=httpx.MockTransport(take)) as client:
            assert isinstance(outcome(lambda client=client: client.agents.retrieve("a")), NotFoundError)
assert received_keys == [f"Bearer {secret_key}"] * (4 * len(PASTED))
for pasted in (f"{secret_key[:30]}\n{secret_key[30:]}", f"{secret_key[:30]}\u200b{secret_key[30:]}", f"é{secret_key}"):
    error = outcome(lambda pasted=pasted: Client("http://m.example", pasted))
    assert isinstance(error, ValueError) and "wrong character" in str(error), error
    assert "sssss" not in f"{error} {error!r} {error.__context__!r}"
for address in (
    "https://me:word@m.example",
    "https://me:wo@rd@m.example",
    "https://m.example?key=word",
    *(form.format(secret_key) for form in PASTED),
    f"m.example/{secret_key}",
    f"https://m.example/{secret_key}",
    f"https://m.example#{secret_key}",
    f"https://m.example:{secret_key}",
    f"https://[{secret_key}]/",
    f"https://m.example/ {secret_key}",
    f"地址{secret_key}",
    str(list(range(100, 164))),
    json.dumps(list(range(100, 164)), separators=(",", ":")),
):
    error = outcome(lambda address=address: Client(address))
    assert isinstance(error, ValueError), address
    assert not any(part in str(error) for part in ("sssss", "me:wo", "101")), error


def broken(_: httpx.Request) -> httpx.Response:
    raise httpx.LocalProtocolError(f"Illegal header value b'Bearer {secret_key}' for https://me:word@proxy.example")


with Client("http://m.example", secret_key, max_retries=0, transport=httpx.MockTransport(broken)) as client:
    error = outcome(lambda: client.agents.retrieve("a"))
    told = "".join(traceback.format_exception(error))
    assert "crtx_test_abcdefgh_…" in told and not any(part in told for part in ("sssss", "word@")), told
with Client("http://m.example", secret_key, transport=httpx.MockTransport(take)) as client:
    error = outcome(lambda: client.agents.run("a", task="t", idempotency_key="a\nb"))
    assert isinstance(error, ValueError), error
    assert str(error) == "idempotency-key has a character that HTTP cannot send", error
    # The marketplace refuses an empty key. A random key in its place would pay again with the next retry.
    assert isinstance(outcome(lambda: client.agents.run("a", task="t", idempotency_key="")), NotFoundError)
    assert received_repeats[-1] == "", received_repeats[-1]
    error = outcome(lambda: client.executions.list(from_="yesterday"))  # type: ignore[arg-type]
    assert isinstance(error, ValueError) and "datetime with a time zone" in str(error), error
    assert "sssss" not in repr(client.agents._service)
with tempfile.TemporaryDirectory() as folder:
    key_file = Path(folder) / "key.json"
    for encoding in ("utf-8-sig", "utf-16"):
        key_file.write_text(json.dumps(list(secret)), encoding)
        assert load_signing_key(key_file) == secret
for marked in ("\ufeff{}", codecs.BOM_UTF8 + b"{}"):
    assert verify_receipt(marked, rpc_url=None) == verify_receipt("{}", rpc_url=None)
for path in ("[1, 2, 3]", "5" * 88, "keys/[1,2]"):
    error = outcome(lambda path=path: load_signing_key(path))
    assert isinstance(error, ValueError) and path not in str(error), error
assert origin_of("https://me:word@node.example:8899/key?api-key=word") == "https://node.example:8899"


# One asynchronous client in several event loops
def serve_twice() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.readuntil(b"\r\n\r\n"):
            body = b'{"error": {"code": "agent_not_found", "message": "m"}}'
            head = b"HTTP/1.1 404 Not Found\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
            writer.write(head % len(body) + body)

    port: list[int] = []
    is_over = threading.Event()

    def run_server() -> None:
        async def serve() -> None:
            async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
                port.append(server.sockets[0].getsockname()[1])
                is_listening.set()
                await asyncio.to_thread(is_over.wait)

        asyncio.run(serve())

    is_listening = threading.Event()
    thread = threading.Thread(target=run_server, daemon=True)
    thread.start()
    is_listening.wait()
    shared = AsyncClient(f"http://127.0.0.1:{port[0]}", max_retries=0)

    async def look() -> str:
        try:
            await shared.agents.retrieve("a")
        except NotFoundError as error:
            return error.code
        return "found"

    assert [asyncio.run(look()) for _ in range(3)] == ["agent_not_found"] * 3
    is_over.set()


serve_twice()


# Closing the iterator of events closes the connection. Disputes of an execution are not among its events.
class Events(httpx.SyncByteStream, httpx.AsyncByteStream):
    is_closed = False
    data = json.dumps(
        {
            "id": "evt_2",
            "type": "execution.pending",
            "timestamp": "2026-01-01T00:00:00Z",
            "data": {"execution_id": "e", "agent_id": "a", "status": "pending", "cost_usdc": 0.1, "error_code": None},
        }
    )
    text = (
        "id: evt_1\nevent: dispute.opened\ndata: {}\n\n: alive\n\n"
        f"id: evt_2\nevent: execution.pending\ndata: {data}\n\n"
    )

    def __iter__(self) -> Iterator[bytes]:
        yield self.text.encode()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self.text.encode()

    def close(self) -> None:
        self.is_closed = True

    async def aclose(self) -> None:
        self.is_closed = True


def streaming(source: Events) -> httpx.MockTransport:
    headers = {"content-type": "text/event-stream"}
    return httpx.MockTransport(lambda _: httpx.Response(200, headers=headers, stream=source))


async def leave_async(source: Events) -> None:
    async with (
        AsyncClient("http://m.example", transport=streaming(source)) as client,
        aclosing(client.executions.events("e")) as events,
    ):
        assert (await anext(events)).id == "evt_2" and not source.is_closed
        await events.aclose()
        assert source.is_closed


opened = Events()
with Client("http://m.example", transport=streaming(opened)) as client:
    events = client.executions.events("e")
    assert next(events).data.cost_usdc == Decimal("0.1") and not opened.is_closed
    events.close()
    assert opened.is_closed
asyncio.run(leave_async(Events()))

# Changes of webhooks are not retried: after a fault it is unknown whether the change was made
sent: list[tuple[str, str, Any]] = []


def busy(request: httpx.Request) -> httpx.Response:
    body = json.loads(request.content) if request.content else None
    sent.append((request.method, request.url.path.removeprefix("/v1/webhooks"), body))
    return httpx.Response(503, json={"error": {"code": "service_unavailable", "message": "m"}})


with Client("http://m.example", transport=httpx.MockTransport(busy)) as client:
    hooks = client.webhooks
    for change in (
        lambda: hooks.create("https://a.example"),
        lambda: hooks.create("https://a.example", event_types=("gas.low",)),
        lambda: hooks.update("we_1", enabled=False),
        lambda: hooks.update("we_1", url="https://b.example", event_types=[]),
        lambda: hooks.delete("we_1"),
        lambda: hooks.rotate_secret("we_1"),
        lambda: hooks.test("we_1"),
        lambda: hooks.redeliver("dlv_1"),
    ):
        try:
            change()
            raise AssertionError("it must raise")
        except ServiceUnavailableError:
            pass
assert sent == [
    ("POST", "", {"url": "https://a.example", "event_types": []}),
    ("POST", "", {"url": "https://a.example", "event_types": ["gas.low"]}),
    ("PATCH", "/we_1", {"enabled": False}),
    ("PATCH", "/we_1", {"url": "https://b.example", "event_types": []}),
    ("DELETE", "/we_1", None),
    ("POST", "/we_1/rotate", None),
    ("POST", "/we_1/test", None),
    ("POST", "/deliveries/dlv_1/redeliver", None),
], sent

# A custom transport, the User-Agent, and a log without secrets
asked: list[httpx.Request] = []
lines: list[str] = []


def answer(request: httpx.Request) -> httpx.Response:
    asked.append(request)
    code, status = ("service_unavailable", 503) if len(asked) == 1 else ("agent_not_found", 404)
    error = {"code": code, "message": "m", "execution_id": None, "details": None}
    return httpx.Response(status, json={"error": error}, headers={"x-request-id": "r1"})


class Lines(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        lines.append(record.getMessage())


logging.getLogger("paid_agents").addHandler(Lines())
logging.getLogger("paid_agents").setLevel(logging.DEBUG)
with Client(
    "http://m.example/", "crtx_test_secret", transport=httpx.MockTransport(answer), user_agent="mine/1"
) as client:
    try:
        client.agents.run("a/b", task="a private task", parameters={"x": "private"}, idempotency_key="my-key")
        raise AssertionError("it must raise")
    except NotFoundError as error:
        assert (error.code, error.request_id, error.idempotency_key) == ("agent_not_found", "r1", "my-key")
assert [request.url.raw_path for request in asked] == [b"/v1/agents/a%2Fb/execute"] * 2
assert asked[0].headers["user-agent"].startswith("mine/1 agent-marketplace-python/")
assert asked[0].headers["authorization"] == "Bearer crtx_test_secret"
assert asked[0].headers["idempotency-key"] == asked[1].headers["idempotency-key"] == "my-key"
assert len(lines) == 3 and "503" in lines[0] and "service_unavailable" in lines[1] and "404" in lines[2], lines
for secret in ("crtx_test_secret", "private", "my-key"):
    assert not any(secret in line for line in lines), lines

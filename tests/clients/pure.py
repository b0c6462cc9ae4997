"""Compares what the package computes without a network with the project's vectors and the program's IDL."""

import asyncio
import codecs
import json
import logging
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from decimal import Context, Decimal, Inexact, localcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import base58
import httpx

from paid_agents import (
    AsyncClient,
    Client,
    NotFoundError,
    ServiceUnavailableError,
    from_base_units,
    to_base_units,
    x402,
)
from paid_agents._secrets import origin_of
from paid_agents.creator import load_signing_key, signatures
from paid_agents.money import format_usdc, json_usdc
from paid_agents.receipts import (
    _program,
    execution_message,
    hash_result,
    hashing,
    request_hash,
    sign_message,
    verify_message,
    verify_receipt,
    verify_result_signature,
)

L = 2**252 + 27742317777372353535851937790883648493
given = json.load(sys.stdin)
vectors: dict[str, Any] = given["vectors"]
idl: dict[str, Any] = given["idl"]


def raises(work: Any) -> bool:
    try:
        work()
    except ValueError:
        return True
    return False


def outcome(work: Any) -> BaseException | None:
    try:
        work()
    except Exception as error:
        return error
    return None


# Vectors
creator = vectors["keys"]["creator"]
public = base58.b58decode(creator["public_key"])
secret = bytes.fromhex(creator["seed_hex"]) + public
for vector in vectors["results"]["vectors"]:
    assert hash_result(vector["result"]) == vector["result_hash"]
    assert sign_message(secret, vector["result_hash"]) == vector["signature"]
    assert verify_result_signature(public, vector["result_hash"], vector["signature"])
    assert not verify_result_signature(public, hash_result("another"), vector["signature"])
    # The same signature with S + L, the order of the group, satisfies the equation. Verifiers must check that S < L.
    raw = base58.b58decode(vector["signature"].removeprefix("ed25519:"))
    larger = raw[:32] + (int.from_bytes(raw[32:], "little") + L).to_bytes(32, "little")
    assert not verify_message(public, vector["result_hash"], hashing.format_signature(larger))
for vector in vectors["requests"]["vectors"]:
    assert request_hash(vector["task"], vector["parameters"]).hex() == vector["request_hash"]
assert raises(lambda: request_hash("\ud800"))
assert raises(lambda: request_hash("x", {"a": float("nan")}))
bound = vectors["execution_signature"]
message = execution_message(
    _program.PROGRAM,
    vectors["answers"]["completed"]["execution_id"],
    request_hash(vectors["requests"]["vectors"][1]["task"], vectors["requests"]["vectors"][1]["parameters"]).hex(),
    vectors["answers"]["completed"]["result_hash"],
)
assert message == bound["message"], message
assert sign_message(secret, message) == bound["signature"]
# With a key of small order, a signature fits almost any message.
assert not verify_message(b"\x01" + bytes(31), "x", hashing.format_signature(b"\x01" + bytes(63)))

# A call that was signed long ago. It is valid only at its time, and only unchanged.
call = vectors["call"]
url = call["url"].removeprefix("https://")
authority, _, path = url.partition("/")
verifier = signatures.CallVerifier(keys=[vectors["keys"]["marketplace"]["jwk"]])
received = signatures.ReceivedCall("POST", authority, f"/{path}", call["headers"], call["body"].encode())


def is_valid(at: float, by: signatures.CallVerifier = verifier, **changes: Any) -> bool:
    import datetime

    moment = datetime.datetime.fromtimestamp(at)

    class Then(datetime.datetime):
        @classmethod
        def now(cls, tz: Any = None) -> "Then":
            return cls.fromtimestamp(at, tz)

    from http_message_signatures import signatures as library

    real = library.datetime
    library.datetime = SimpleNamespace(datetime=Then, timedelta=datetime.timedelta, timezone=datetime.timezone)  # type: ignore[assignment]
    try:
        assert moment
        changed = signatures.ReceivedCall(**{**received.__dict__, **changes})
        return asyncio.run(by.verify(changed))
    finally:
        library.datetime = real


assert is_valid(call["created"])
assert is_valid(call["created"] + 115)  # Clocks may differ by a minute.
assert not is_valid(call["created"] + 125)
assert not is_valid(call["created"] - 65)
assert not is_valid(time.time())
assert not is_valid(call["created"], path="/v1/execute")
assert not is_valid(call["created"], authority="other.example")
assert not is_valid(call["created"], method="PUT")
assert not is_valid(call["created"], body=b"{}")
for name in ("marketplace-signing-key", "marketplace-purpose", "content-type"):
    assert not is_valid(call["created"], headers={**call["headers"], name: "x"})
    assert not is_valid(call["created"], headers={k: v for k, v in call["headers"].items() if k != name})

# A key that the directory did not have is unknown, not wrong, while the directory cannot be read.
directory_answers = [(200, {"keys": []}), (500, {})]


def directory(_: httpx.Request) -> httpx.Response:
    status, content = directory_answers.pop(0)
    return httpx.Response(status, json=content)


reading = signatures.CallVerifier("https://market.example", transport=httpx.MockTransport(directory))
assert not is_valid(call["created"], reading)
reading._tried_at = float("-inf")  # As if five seconds had passed.
try:
    is_valid(call["created"], reading)
    raise AssertionError("an unknown key was refused")
except signatures.KeysUnavailableError:
    pass
assert not directory_answers

# IDL
assert idl["address"] == _program.PROGRAM
constants = {
    constant["name"]: json.loads(constant["value"])
    for constant in idl["constants"]
    if constant["value"][0] in "[0123456789"
}
assert constants["ARCHIVE_DEPTH"] == _program.ARCHIVE_DEPTH
assert constants["ARCHIVE_BUFFER"] == _program.ARCHIVE_BUFFER
assert constants["ARCHIVE_PROOF_NODES"] == _program.ARCHIVE_PROOF_NODES
assert constants["ARCHIVE_TREE_BYTES"] == _program.ARCHIVE_TREE_BYTES
assert constants["BPS_DENOMINATOR"] == _program.BPS_DENOMINATOR
assert bytes(constants["ARCHIVE_LEAF_DOMAIN"]) == _program.ARCHIVE_LEAF_DOMAIN
for seed in ("EXECUTION", "ESCROW", "TREASURY", "ARCHIVE"):
    assert bytes(constants[f"{seed}_SEED"]) == seed.lower().encode()
for account in idl["accounts"]:
    if account["name"] in _program.DISCRIMINATORS:
        assert bytes(account["discriminator"]) == _program.DISCRIMINATORS[account["name"]]
by_name = {instruction["name"]: instruction for instruction in idl["instructions"]}
for discriminator, (name, accounts) in _program.INSTRUCTIONS.items():
    assert bytes(by_name[name]["discriminator"]) == discriminator
    assert [account["name"] for account in by_name[name]["accounts"]] == accounts.split()
SIZES = {"bool": 1, "u8": 1, "u16": 2, "u32": 4, "u64": 8, "i64": 8, "pubkey": 32}
types = {kind["name"]: kind["type"] for kind in idl["types"]}


def size_of(kind: Any) -> int:
    if isinstance(kind, str):
        return SIZES[kind]
    return kind["array"][1] if "array" in kind else 1  # The only other type is an enum.


def offset_of(struct: str, wanted: str | None) -> int:
    at = 0
    for field in types[struct]["fields"]:
        if field["name"] == wanted:
            return at
        at += size_of(field["type"])
    assert wanted is None, wanted
    return at


assert offset_of("ExecutionRecord", None) == _program.RECORD_BYTES
assert offset_of("OpenExecutionArgs", "request_hash") == _program.OPEN_HASH_AT
assert types["OpenExecutionFromDepositArgs"]["fields"][0]["name"] == "open"
assert (
    offset_of("SettleExecutionArgs", "result_hash"),
    offset_of("SettleExecutionArgs", "signature"),
) == _program.SETTLE_AT
assert offset_of("AgentListing", "creator") == 3
assert offset_of("AgentListing", "signing_key") == 83
assert offset_of("Archive", "tree") == 4
statuses = [variant["name"][0].lower() + variant["name"][1:] for variant in types["ExecutionStatus"]["variants"]]
assert tuple(statuses) == _program.STATUSES

# Money
assert to_base_units("0.25") == to_base_units(Decimal("0.250000")) == 250_000
assert from_base_units(250_000) == Decimal("0.25")
assert str(from_base_units(2_000_000)) == "2"
assert str(from_base_units(1)) == "0.000001"
too_fine = f"1.{'0' * 40}1"
for wrong in (0.25, True, "0.0000001", "-1", "x", "NaN", "sNaN", "Infinity", "18446744073710", "1e999999", too_fine):
    assert raises(lambda wrong=wrong: to_base_units(wrong)), wrong
# The program's own precision neither rounds an amount nor stops the client
for theirs in (Context(prec=3), Context(prec=6, traps=[Inexact])):
    with localcontext(theirs):
        assert to_base_units("18446744073709.551615") == 2**64 - 1
        assert to_base_units(Decimal("1234567.89")) == 1_234_567_890_000
        assert str(from_base_units(2**64 - 1)) == "18446744073709.551615"
        assert [str(from_base_units(units)) for units in (1_234_567_000_000, 0, 10)] == ["1234567", "0", "0.00001"]
        assert json_usdc("1234567.89") == 1234567.89
        assert format_usdc(Decimal("1234567.890")) == "1234567.89"
assert json.dumps([json_usdc("0.1"), json_usdc(3), json_usdc("0.000001")]) == "[0.1, 3, 1e-06]"

# Quotes of the x402 endpoint
deposit = vectors["deposit"]
assert idl["constants"] and int(constants["MAX_SERVICE_FEE"]) == x402.MAX_SERVICE_FEE
for domain in ("terms_domain", "deposit_domain"):
    name = {"terms_domain": "DEPOSIT_TERMS_DOMAIN", "deposit_domain": "DEPOSIT_DOMAIN"}[domain]
    assert bytes(constants[name]).decode() == deposit[domain]
quotes: dict[str, Any] = given["quotes"]


def changed(change: dict[str, Any]) -> dict[str, Any]:
    quote: dict[str, Any] = json.loads(json.dumps(quotes["quote"]))
    for path, value in change.items():
        name, _, inner = path.partition(".")
        if value == "absent":
            del (quote[name] if inner else quote)[inner or name]
        else:
            (quote[name] if inner else quote)[inner or name] = value
    return quote


def checked(case: dict[str, Any]) -> x402.CheckedQuote:
    return x402.check_quote(changed(case["change"]), **{**quotes["purchase"], **case.get("purchase", {})})


found = checked({"change": {}})
assert {**found.__dict__, **{name: str(getattr(found, name)) for name in ("amount", "price", "service_fee")}} == quotes[
    "checked"
]
for case in quotes["accepted"]:
    assert checked(case).deposit == changed(case["change"])["payTo"], case
for case in quotes["refused"]:
    try:
        checked(case)
        raise AssertionError(f"it must refuse {case}")
    except x402.QuoteRefusedError as error:
        assert error.field == case["field"], (case, error)
for value in (None, [], "exact", 7):
    assert raises(lambda value=value: x402.check_quote(value, **quotes["purchase"]))

# Options of a client
assert "secret" not in repr(Client("http://127.0.0.1", "secret"))
for address in ("", "ftp://a", "http://", "https://user:pass@host"):
    assert raises(lambda address=address: Client(address)), address

# Keys as files and clipboards give them, and no secret in an error
secret_key = "crtx_test_abcdefgh_" + "s" * 49
received_keys: list[str] = []


def take(request: httpx.Request) -> httpx.Response:
    received_keys.append(request.headers["authorization"])
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
):
    error = outcome(lambda address=address: Client(address))
    assert isinstance(error, ValueError), address
    assert not any(part in str(error) for part in ("sssss", "me:wo")), error


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

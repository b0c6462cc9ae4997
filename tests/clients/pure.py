"""Compares what the package computes without a network with the project's vectors and the program's IDL."""

import asyncio
import json
import sys
import time
from decimal import Context, Decimal, Inexact, localcontext
from types import SimpleNamespace
from typing import Any

import base58
import httpx

from paid_agents import from_base_units, to_base_units, x402
from paid_agents.creator import signatures
from paid_agents.money import format_usdc, json_usdc
from paid_agents.receipts import (
    Receipt,
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


def signature_of(raw: bytes) -> str:
    return f"ed25519:{base58.b58encode(raw).decode()}"


def raises(work: Any) -> bool:
    try:
        work()
    except ValueError:
        return True
    return False


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
    assert not verify_message(public, vector["result_hash"], signature_of(larger))
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
assert not verify_message(b"\x01" + bytes(31), "x", signature_of(b"\x01" + bytes(63)))

# Base58 of every length that is needed
for size in range(65):
    for start in (0, 1, 255):
        raw = bytes((start + at * 7 * start) % 256 for at in range(size))
        assert hashing.decode_base58(base58.b58encode(raw).decode()) == raw
assert all(hashing.decode_base58(text) is None for text in ("0", "O", "1 ", "1\n", "\uff11", "l" * 100, "1" * 89))

# A receipt whose numbers are no numbers, or would fill the memory. It is refused, as in TypeScript.
key, some_hash = creator["public_key"], "ab" * 32
signed = vectors["results"]["vectors"][0]
archive: dict[str, Any] = dict.fromkeys(("archive", "tree", "record", "transaction"), key)
archive |= {"archive_index": 0, "leaf_index": 3, "fields": "AAAA", "leaf": some_hash, "root": some_hash}
receipt: dict[str, Any] = dict.fromkeys(
    ("program_id", "genesis_hash", "record", "agent_id", "caller", "signing_key"), key
)
receipt |= {
    **{"version": 1, "execution_id": vectors["execution"]["execution_id"], "request_hash": some_hash},
    **{"result_hash": signed["result_hash"], "signature": signed["signature"], "execution_signature": None},
    **{"price_usdc": 0.25, "fee_bps": 100, "opened_at": "2026-01-01T00:00:00.000Z"},
    **{"settled_at": "2026-01-01T00:00:01.000Z", "transactions": {"open": None, "settle": None}},
    "archive": archive | {"proof": [some_hash] * 20},
}
written = json.dumps(receipt)
assert verify_receipt(written, rpc_url=None).checks[0].state == "passed"
assert json.loads(Receipt.model_validate(receipt).model_dump_json(exclude_unset=True)) == receipt
for good, *wrong in (
    ('"version": 1', "true", '"1"'),
    ('"fee_bps": 100', '"100"', "true", "1e999999999"),
    ('"price_usdc": 0.25', '"0.25"', "1e999999999"),
    ('"leaf_index": 3', '"3"', "true", "1e16", "1e300000"),
):
    for bad in wrong:
        changed_text = written.replace(good, good.split(" ")[0] + bad)
        assert verify_receipt(changed_text, rpc_url=None).checks[0].state == "failed", (good, bad)

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
assert bytes(constants["ARCHIVE_LEAF_DOMAIN"]) == _program.ARCHIVE_LEAF_DOMAIN
for seed in ("EXECUTION", "ARCHIVE"):
    assert bytes(constants[f"{seed}_SEED"]) == seed.lower().encode()
for account in idl["accounts"]:
    if account["name"] in _program.DISCRIMINATORS:
        assert bytes(account["discriminator"]) == _program.DISCRIMINATORS[account["name"]]
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
# What TypeScript refuses too.
for wrong in ("1_000", "1e3", "+1", "01", ".5", "1.", " 1", "1\n", "\u0663", "\uff11", ""):
    assert raises(lambda wrong=wrong: to_base_units(wrong)), wrong
assert to_base_units(Decimal("1E+3")) == 10**9
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

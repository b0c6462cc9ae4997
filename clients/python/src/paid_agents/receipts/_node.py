"""The Solana node that a receipt is checked against: four JSON-RPC methods. Its answers are only compared."""

import base64
import binascii
import json
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar, cast

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from .._flow import Flow, NoAnswerError, Send, send
from .._secrets import origin_of

REQUEST_TIMEOUT = 10.0
MOST_SIGNATURES = 50
"""Transactions of one record: its open, its end, its dispute, its archiving, and others that anyone may add."""
T = TypeVar("T")


class UnansweredError(Exception):
    """The node gave no answer that can be compared. The message explains it to the reader of the checks."""


class _Instruction(BaseModel):
    program_index: int = Field(alias="programIdIndex")
    accounts: list[int]
    data: str


class _Amount(BaseModel):
    amount: Annotated[str, Field(pattern=r"^[0-9]{1,20}$")]


class _TokenBalance(BaseModel):
    account_index: int = Field(alias="accountIndex")
    owner: str | None = None
    amount: _Amount = Field(alias="uiTokenAmount")


class _Message(BaseModel):
    keys: list[str] = Field(alias="accountKeys")
    instructions: list[_Instruction]


class _Signed(BaseModel):
    signatures: list[str]
    message: _Message


class _Inner(BaseModel):
    instructions: list[_Instruction]


class _Loaded(BaseModel):
    writable: list[str]
    readonly: list[str]


class _Meta(BaseModel):
    err: Any
    inner: list[_Inner] | None = Field(default=None, alias="innerInstructions")
    loaded: _Loaded | None = Field(default=None, alias="loadedAddresses")
    balances: list[_TokenBalance] | None = Field(default=None, alias="postTokenBalances")


class _TransactionAnswer(BaseModel):
    time: int | None = Field(default=None, alias="blockTime")
    transaction: _Signed
    meta: _Meta


class _Account(BaseModel):
    owner: str
    data: tuple[str, str]


class _AccountAnswer(BaseModel):
    value: _Account | None


class _SignatureAnswer(BaseModel):
    signature: str
    err: Any


@dataclass(frozen=True)
class NodeAccount:
    owner: str
    data: bytes


@dataclass(frozen=True)
class NodeInstruction:
    program: str
    accounts: list[str]
    data: str
    """Base58."""


@dataclass(frozen=True)
class TokenHolding:
    """A token account after the transaction."""

    amount: int
    """Base units."""
    owner: str | None
    """The owner of the token account; None if the node does not report it."""


@dataclass(frozen=True)
class NodeTransaction:
    signature: str
    time: int | None
    error: str | None
    """None if it succeeded."""
    instructions: list[NodeInstruction]
    has_inner: bool
    """False if the node keeps only the instructions that the transaction called itself."""
    holdings: dict[str, TokenHolding] | None
    """Those that exist after it, by token account; None if the node keeps no balances."""


@dataclass(frozen=True)
class Node:
    """Asks the node at this URL. Every method raises UnansweredError if there is no valid answer."""

    rpc_url: str = field(repr=False)

    @property
    def source(self) -> str:
        """For messages and checks: the rest of the URL may have a key."""
        return origin_of(self.rpc_url)

    def genesis_hash(self) -> Flow[str]:
        return self._ask("getGenesisHash", [], TypeAdapter(str))

    def account(self, address: str) -> Flow[NodeAccount | None]:
        """An account; None if the node has none."""
        options = {"encoding": "base64", "commitment": "finalized"}
        answer = yield from self._ask("getAccountInfo", [address, options], TypeAdapter(_AccountAnswer))
        if answer.value is None:
            return None
        try:
            return NodeAccount(answer.value.owner, base64.b64decode(answer.value.data[0], validate=True))
        except binascii.Error:
            raise UnansweredError("The node returned a malformed getAccountInfo response.") from None

    def transaction(self, signature: str) -> Flow[NodeTransaction | None]:
        """A transaction; None if the node's history lacks it."""
        # 255 is every version: the node renders the transaction, and its answers are only compared.
        options = {"encoding": "json", "commitment": "finalized", "maxSupportedTransactionVersion": 255}
        answer_type: TypeAdapter[_TransactionAnswer | None] = TypeAdapter(_TransactionAnswer | None)
        answer = yield from self._ask("getTransaction", [signature, options], answer_type)
        return None if answer is None else _read_transaction(answer)

    def signatures_of(self, address: str) -> Flow[list[str]]:
        """The latest transactions that succeeded and name this address, newest first."""
        options = {"limit": MOST_SIGNATURES, "commitment": "finalized"}
        answers = yield from self._ask(
            "getSignaturesForAddress", [address, options], TypeAdapter(list[_SignatureAnswer])
        )
        return [answer.signature for answer in answers if answer.err is None]

    def _ask(self, method: str, params: list[Any], answer_type: TypeAdapter[T]) -> Flow[T]:
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        request = Send("POST", self.rpc_url, {"content-type": "application/json"}, body, REQUEST_TIMEOUT)
        try:
            answer = yield from send(request)
        except NoAnswerError:
            raise UnansweredError(f"No Solana node answers at {self.source}.") from None
        if not 200 <= answer.status < 300:
            raise UnansweredError(f"The node answered {method} with status {answer.status}.")
        try:
            parsed: Any = json.loads(answer.body)
        except (ValueError, RecursionError):
            raise UnansweredError(f"The node's answer to {method} is not JSON.") from None
        given = cast("dict[str, Any]", parsed) if isinstance(parsed, dict) else {}
        error: Any = given.get("error")
        if error:
            message: Any = error.get("message") if isinstance(error, dict) else error
            raise UnansweredError(f"The node refused {method}: {message}.")
        try:
            return answer_type.validate_python(given.get("result"))
        except ValidationError:
            raise UnansweredError(f"The node returned a malformed {method} response.") from None


def _read_transaction(answer: _TransactionAnswer) -> NodeTransaction:
    message, meta = answer.transaction.message, answer.meta
    loaded = meta.loaded.writable + meta.loaded.readonly if meta.loaded else []
    keys = message.keys + loaded
    inner = [instruction for group in meta.inner or [] for instruction in group.instructions]

    def key_at(index: int) -> str:
        return keys[index] if 0 <= index < len(keys) else ""

    instructions = [
        NodeInstruction(key_at(one.program_index), [key_at(index) for index in one.accounts], one.data)
        for one in message.instructions + inner
    ]
    holdings: dict[str, TokenHolding] | None = None
    if meta.balances is not None:
        holdings = {key_at(one.account_index): TokenHolding(int(one.amount.amount), one.owner) for one in meta.balances}
    return NodeTransaction(
        signature=answer.transaction.signatures[0] if answer.transaction.signatures else "",
        time=answer.time,
        error=None if meta.err is None else json.dumps(meta.err, separators=(",", ":")),
        instructions=instructions,
        has_inner=meta.inner is not None,
        holdings=holdings,
    )

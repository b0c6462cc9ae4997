"""The Solana node that a receipt is checked against: two JSON-RPC methods. Its answers are only compared."""

import base64
import binascii
import json
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from pydantic import BaseModel, TypeAdapter, ValidationError

from .._flow import Flow, NoAnswerError, Send, send
from .._secrets import origin_of

REQUEST_TIMEOUT = 10.0
T = TypeVar("T")


class UnansweredError(Exception):
    """The node gave no answer that can be compared. The message explains it to the reader of the checks."""


class _Account(BaseModel):
    owner: str
    data: tuple[str, str]


class _AccountAnswer(BaseModel):
    value: _Account | None


@dataclass(frozen=True)
class NodeAccount:
    owner: str
    data: bytes


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

"""Reads the marketplace's `POST .../execute`, and refuses invalid requests with a reason."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from ..receipts.hashing import parse_uuid

MAX_TIMEOUT_SECONDS = 86_400
"""The program's own upper bound of a listing's timeout: one day."""
SIGNING_KEY_HEADER = "marketplace-signing-key"
PURPOSE_HEADER = "marketplace-purpose"

CallPurpose = Literal["execution", "test"]


def _drop(_: str) -> None:
    """The default of `ExecutionRequest.delta`: drops the output."""


@dataclass(frozen=True)
class ExecutionRequest:
    """One call, as the marketplace sends it."""

    execution_id: str
    """Lower-case UUID, unique in the whole program."""
    task: str
    parameters: dict[str, Any]
    """The marketplace has checked them against the listing's input schema; empty if the caller gave none."""
    user_pubkey: str
    """The caller's wallet. Use no more than necessary; do not log or keep it."""
    timeout_seconds: int
    purpose: CallPurpose
    """`test`: the marketplace checks that the server answers, and nobody pays."""
    signing_key: str | None
    """The key, base58, that the answer is checked with; None if the call does not name it."""
    delta: Callable[[str], None] = field(default=_drop, repr=False, compare=False)
    """Sends the caller a part of the output while it is made, if the caller asked for that. Never waits.

    It is not verified: only the result is signed and paid.
    """


class RequestError(Exception):
    """A request that is answered by an HTTP status and `{"error": {"code", "message"}}` instead of an execution."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message


def invalid(message: str) -> RequestError:
    return RequestError(400, "invalid_request", message)


def parse_execution_request(body: bytes, headers: Mapping[str, str]) -> ExecutionRequest:
    """Checks the fields of the specification's request and ignores unknown ones. Raises RequestError 400."""
    value = _parse_json(body)
    if not isinstance(value, dict):
        raise invalid("the body must be a JSON object")
    given = cast("dict[str, Any]", value)
    execution_id, task = given.get("execution_id"), given.get("task")
    parameters, user_pubkey = given.get("parameters", {}), given.get("user_pubkey")
    timeout = given.get("timeout_seconds")
    if not isinstance(execution_id, str) or parse_uuid(execution_id) is None:
        raise invalid("execution_id must be a UUID in lower case")
    if not isinstance(task, str) or not task:
        raise invalid("task must be a string of at least one character")
    if not isinstance(parameters, dict):
        raise invalid("parameters must be an object")
    if not isinstance(user_pubkey, str) or not user_pubkey:
        raise invalid("user_pubkey must be a string")
    seconds = _whole(timeout)
    if not 1 <= seconds <= MAX_TIMEOUT_SECONDS:
        raise invalid(f"timeout_seconds must be an integer from 1 to {MAX_TIMEOUT_SECONDS}")
    return ExecutionRequest(
        execution_id=execution_id,
        task=task,
        parameters=cast("dict[str, Any]", parameters),
        user_pubkey=user_pubkey,
        timeout_seconds=seconds,
        purpose="test" if headers.get(PURPOSE_HEADER) == "test" else "execution",
        signing_key=headers.get(SIGNING_KEY_HEADER),
    )


def _whole(value: object) -> int:
    """A whole number as JSON may write it, 5 or 5.0; 0 for anything else."""
    if isinstance(value, bool):
        return 0
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) else 0


def _parse_json(body: bytes) -> object:
    try:
        parsed: object = json.loads(body.decode("utf-8-sig"), parse_constant=_refuse)
        return parsed
    except (ValueError, RecursionError):
        raise invalid("the body must be valid JSON in UTF-8") from None


def _refuse(constant: str) -> object:
    raise ValueError(constant)

"""Checks a receipt by itself and then with a Solana node. Unknown facts never fail it."""

import codecs
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from pydantic import ValidationError

from .._answers import read_json
from .._calls import Service, get, path_of
from .._flow import Flow
from ..errors import MarketplaceError
from ..models import Archive
from . import _claim, _program
from ._checks import CHECKS, Check, CheckName, OpenCheck, Verification, not_checked
from ._node import Node, UnansweredError
from ._program import PROGRAM, Record
from ._recorded import (
    FindArchive,
    Found,
    FoundAccount,
    FoundLeaf,
    FoundNothing,
    check_record,
    find_record,
)
from .receipt import Receipt

_NO_NETWORK = "No node was given, so the chain was not read."
_PURE = (
    _claim.check_result_hash,
    _claim.check_signature,
    _claim.check_request_hash,
    _claim.check_execution_signature,
)


def fetch(service: Service, execution_id: str) -> Flow[Receipt]:
    return get(service, Receipt, path_of("v1", "executions", execution_id, "receipt"))


def verify_execution(service: Service, execution_id: str, rpc_url: str | None) -> Flow[Verification]:
    """Fetches the receipt, and a new proof from the service if the archive's tree has grown."""
    receipt = yield from fetch(service, execution_id)

    def find_archive(wanted: str) -> Flow[Archive | None]:
        try:
            return (yield from get(service, Archive, path_of("v1", "executions", wanted, "archive")))
        except MarketplaceError:
            return None  # Then the proof is as unknown as without a service.

    return (yield from verify(receipt, rpc_url, find_archive, execution_id))


def verify(
    receipt: Receipt | Mapping[str, Any] | str | bytes,
    rpc_url: str | None,
    find_archive: FindArchive | None = None,
    execution_id: str | None = None,
) -> Flow[Verification]:
    """Never raises for a bad receipt. With `execution_id`, it must be the receipt of this execution."""
    shape = OpenCheck("shape", "receipt")
    try:
        given: Any = receipt if not isinstance(receipt, (str, bytes)) else _parsed(receipt)
        claimed = given if isinstance(given, Receipt) else Receipt.model_validate(given)
    except ValidationError as error:
        for fault in error.errors():
            where = ".".join(str(part) for part in fault["loc"]) or "receipt"
            shape.equal(where, "malformed", fault["msg"])
        reason = "It does not have the format of a receipt."
        return Verification([shape.end(), *(not_checked(name, "receipt", reason) for name in CHECKS[1:])])
    shape.equal("version", str(claimed.version), "1")
    if execution_id is not None:
        shape.equal("execution_id", claimed.execution_id, execution_id)
    rest = yield from _verify(claimed, rpc_url, find_archive)
    return Verification([shape.end(), *rest])


def _parsed(text: str | bytes) -> Any:
    data = text.encode() if isinstance(text, str) else text
    try:
        return read_json(data.removeprefix(codecs.BOM_UTF8))
    except ValueError:
        return None


def _verify(receipt: Receipt, rpc_url: str | None, find_archive: FindArchive | None) -> Flow[list[Check]]:
    checks = [check(receipt) for check in _PURE]
    if rpc_url is None:
        names = CHECKS[CHECKS.index("genesis_hash") :]
        return checks + [_without_node(name, receipt) for name in names]
    node = Node(rpc_url)
    genesis = yield from _check_genesis(node, receipt)
    found = yield from find_record(node, receipt, find_archive)
    program = _check_program(receipt, node.source, found)
    record_check, record = yield from check_record(node, receipt, found, find_archive)
    key, missing = yield from _read_signing_key(node, receipt.agent_id)
    signing_key = _check_signing_key(receipt, node.source, record, key, missing)
    return [*checks, genesis, program, record_check, signing_key]


def _without_node(name: CheckName, receipt: Receipt) -> Check:
    if name == "program":
        return _check_program(receipt, "receipt", FoundNothing(_NO_NETWORK))
    return not_checked(name, "receipt", _NO_NETWORK)


def _check_genesis(node: Node, receipt: Receipt) -> Flow[Check]:
    check = OpenCheck("genesis_hash", node.source)
    try:
        genesis = yield from node.genesis_hash()
        check.equal("genesis_hash", genesis, receipt.genesis_hash)
    except UnansweredError as error:
        check.lacks(str(error))
    return check.end()


def _check_program(receipt: Receipt, source: str, found: Found) -> Check:
    """Checks that it is our program, that the record's address is right, and that the program owns the account."""
    check = OpenCheck("program", source)
    check.equal("program_id", receipt.program_id, PROGRAM)
    check.equal("record", receipt.record, _program.record_address(UUID(receipt.execution_id).bytes))
    if isinstance(found, FoundAccount):
        check.equal("owner of the record's account", found.account.owner, PROGRAM)
    elif isinstance(found, FoundLeaf):
        check.equal("owner of the archive's account", found.archive_account.owner, PROGRAM)
        check.equal("owner of the tree's account", found.tree.owner, PROGRAM)
    else:
        check.lacks(found.reason)
    return check.end()


def _read_signing_key(node: Node, listing: str) -> Flow[tuple[str | None, str]]:
    """The listing's signing key; if it is unknown, the reason."""
    try:
        account = yield from node.account(listing)
        if account is not None and account.owner == PROGRAM:
            return _program.decode_signing_key(account.data), ""
    except UnansweredError as error:
        return None, str(error)
    except ValueError:
        pass  # Data that are not a listing count as no listing.
    return None, f"The node has no listing at {listing}."


def _check_signing_key(
    receipt: Receipt, source: str, record: Record | None, present: str | None, missing: str
) -> Check:
    """Listings change their keys: the present key is accepted, or the key of the record's open."""
    check = OpenCheck("signing_key", source)
    if present is not None and present == receipt.signing_key:
        check.equal("signing_key of the listing", present, receipt.signing_key)
    elif record is not None:
        check.equal("signing_key of the record", record.signing_key, receipt.signing_key)
        check.notes(missing if present is None else f"The listing has another key now: {present}.")
    elif present is None:
        check.lacks(missing)
    else:
        check.lacks(f"The listing has the key {present} now; no record shows its earlier key.")
    return check.end()

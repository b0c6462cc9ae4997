"""Checks a receipt by itself and then with a Solana node. Unknown facts never fail it."""

import codecs
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from .._answers import read_json
from .._calls import Service, get, path_of
from .._flow import Flow
from ..errors import MarketplaceError
from ..models import Archive
from . import _claim, _program
from ._checks import CHECKS, Check, CheckName, OpenCheck, Verification, not_checked
from ._claim import Claim
from ._node import Node, UnansweredError
from ._paid import check_opening, check_settlement
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
from .hashing import parse_uuid
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
    shape.equal("execution_id", claimed.execution_id, execution_id)
    claim = Claim(claimed.program_id, claimed.execution_id, claimed.record, claimed)
    rest = yield from _verify(claim, rpc_url, find_archive)
    return Verification([shape.end(), *rest])


def _parsed(text: str | bytes) -> Any:
    data = text.encode() if isinstance(text, str) else text
    try:
        return read_json(data.removeprefix(codecs.BOM_UTF8))
    except ValueError:
        return None


def verify_by_id(execution_id: str, rpc_url: str) -> Flow[Verification]:
    """Checks that the node's facts agree, and that the money went to the right accounts. Does not check the result."""
    identity = parse_uuid(execution_id)
    if identity is None:
        raise ValueError("the execution id must be a UUID in lower case")
    claim = Claim(PROGRAM, execution_id, _program.record_address(identity), None)
    rest = yield from _verify(claim, rpc_url, None)
    return Verification([not_checked("shape", "receipt", _claim.NO_RECEIPT), *rest])


def _verify(claim: Claim, rpc_url: str | None, find_archive: FindArchive | None) -> Flow[list[Check]]:
    checks = [check(claim) for check in _PURE]
    if rpc_url is None:
        names = CHECKS[CHECKS.index("genesis_hash") :]
        return checks + [_without_node(name, claim) for name in names]
    node = Node(rpc_url)
    genesis = yield from _check_genesis(node, claim)
    found = yield from find_record(node, claim, find_archive)
    program = _check_program(claim, node.source, found)
    record_check, record = yield from check_record(node, claim, found, find_archive)
    listing = claim.receipt.agent_id if claim.receipt else record.listing if record else None
    key, creator, missing = yield from _read_listing(node, listing)
    signing_key = _check_signing_key(claim, node.source, record, key, missing)
    opening, opener = yield from check_opening(node, claim)
    caller = record.caller if record else opener
    settlement = yield from check_settlement(node, claim, record, creator, caller)
    return [*checks, genesis, program, record_check, signing_key, opening, settlement]


def _without_node(name: CheckName, claim: Claim) -> Check:
    if name == "program":
        return _check_program(claim, "receipt", FoundNothing(_NO_NETWORK))
    return not_checked(name, "receipt", _NO_NETWORK)


def _check_genesis(node: Node, claim: Claim) -> Flow[Check]:
    check = OpenCheck("genesis_hash", node.source)
    try:
        genesis = yield from node.genesis_hash()
        check.equal("genesis_hash", genesis, claim.receipt.genesis_hash if claim.receipt else None)
        if claim.receipt is None:
            check.lacks(f"Without a receipt, the expected chain is unknown. The node is on the chain {genesis}.")
    except UnansweredError as error:
        check.lacks(str(error))
    return check.end()


def _check_program(claim: Claim, source: str, found: Found) -> Check:
    """Checks that it is our program, that the record's address is right, and that the program owns the account."""
    check = OpenCheck("program", source)
    identity = parse_uuid(claim.execution_id)
    address = _program.record_address(identity) if identity else "none: the execution_id is not a UUID"
    check.equal("program_id", claim.program_id, PROGRAM)
    check.equal("record", claim.record, address)
    if isinstance(found, FoundAccount):
        check.equal("owner of the record's account", found.account.owner, PROGRAM)
    elif isinstance(found, FoundLeaf):
        check.equal("owner of the archive's account", found.archive_account.owner, PROGRAM)
        check.equal("owner of the tree's account", found.tree.owner, PROGRAM)
    else:
        check.lacks(found.reason)
    return check.end()


def _read_listing(node: Node, address: str | None) -> Flow[tuple[str | None, str | None, str]]:
    """The listing's signing key and creator; if they are unknown, the reason."""
    if address is None:
        return None, None, "Neither a receipt nor the record names the listing."
    try:
        account = yield from node.account(address)
        if account is not None and account.owner == PROGRAM:
            key, creator = _program.decode_listing(account.data)
            return key, creator, ""
    except UnansweredError as error:
        return None, None, str(error)
    except ValueError:
        pass  # Data that are not a listing count as no listing.
    return None, None, f"The node has no listing at {address}."


def _check_signing_key(claim: Claim, source: str, record: Record | None, present: str | None, missing: str) -> Check:
    """Listings change their keys: the present key is accepted, or the key of the record's open."""
    check = OpenCheck("signing_key", source)
    if claim.receipt is None:
        check.lacks("No receipt was given, so there is no key to compare.")
    elif present is not None and present == claim.receipt.signing_key:
        check.equal("signing_key of the listing", present, claim.receipt.signing_key)
    elif record is not None:
        check.equal("signing_key of the record", record.signing_key, claim.receipt.signing_key)
        check.notes(missing if present is None else f"The listing has another key now: {present}.")
    elif present is None:
        check.lacks(missing)
    else:
        check.lacks(f"The listing has the key {present} now; no record shows its earlier key.")
    return check.end()

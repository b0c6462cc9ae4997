"""Checks the chain's record of an execution: its account, or its leaf, proven against the account of the tree.

A receipt's own archive is not trusted: the fields give the leaf, and leaf and proof give the root.
"""

import base64
import binascii
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from .._flow import Flow
from ..models import Archive
from ..money import format_usdc, from_base_units
from . import _program
from ._checks import Check, OpenCheck
from ._claim import Claim
from ._node import Node, NodeAccount, UnansweredError
from ._program import PROGRAM, RECORD_BYTES, Record
from .hashing import format_uuid, key_of
from .receipt import seconds_of

_LAST_ARCHIVE = 2**16 - 1

FindArchive: TypeAlias = Callable[[str], Flow[Archive | None]]
"""Asks for the proof of an archived execution; None if there is none. The answer need not be trusted."""


@dataclass(frozen=True)
class FoundAccount:
    account: NodeAccount


@dataclass(frozen=True)
class FoundLeaf:
    archive: Archive
    archive_account: NodeAccount
    tree: NodeAccount
    tree_address: str


@dataclass(frozen=True)
class FoundNothing:
    reason: str


Found: TypeAlias = FoundAccount | FoundLeaf | FoundNothing


def find_record(node: Node, claim: Claim, find_archive: FindArchive | None) -> Flow[Found]:
    """Finds the record: by the receipt's proof, else by its account, else by a proof from `find_archive`."""
    try:
        if claim.receipt is not None and claim.receipt.archive is not None:
            return (yield from _find_leaf(node, claim.receipt.archive))
        account = yield from node.account(claim.record)
        if account is not None and account.owner == PROGRAM:
            return FoundAccount(account)
        archive = (yield from find_archive(claim.execution_id)) if find_archive else None
        if archive is not None:
            return (yield from _find_leaf(node, archive))
    except UnansweredError as error:
        return FoundNothing(str(error))
    return FoundNothing(
        "The program has no account at the address of the record. It is on another chain, or was archived or closed"
        " since, and no proof of its leaf was given."
    )


def _find_leaf(node: Node, archive: Archive) -> Flow[Found]:
    index = archive.archive_index
    account = None if index > _LAST_ARCHIVE else (yield from node.account(_program.archive_address(index)))
    if account is None:
        return FoundNothing(f"The node has no archive {index}.")
    try:
        tree_address = _program.decode_archive(account.data)
    except ValueError:
        tree_address = None
    tree = (yield from node.account(tree_address)) if tree_address is not None else None
    if tree_address is None or tree is None:
        return FoundNothing(f"The node has no tree account of the archive {index}.")
    return FoundLeaf(archive, account, tree, tree_address)


def check_record(
    node: Node, claim: Claim, found: Found, find_archive: FindArchive | None
) -> Flow[tuple[Check, Record | None]]:
    """Compares the record with the claim. The record is returned if the chain proves it, else None."""
    check = OpenCheck("record", node.rpc_url)
    record: Record | None = None
    if isinstance(found, FoundNothing):
        check.lacks(found.reason)
    elif isinstance(found, FoundLeaf):
        record = yield from _prove_leaf(node, claim, check, found, find_archive)
    else:
        data = found.account.data
        record = _decoded(check, lambda: _program.decode_record(_program.account_fields("ExecutionRecord", data)))
    if record is not None:
        _compare_fields(check, claim, record)
    return check.end(), record


def _decoded(check: OpenCheck, decode: Callable[[], Record]) -> Record | None:
    try:
        return decode()
    except ValueError as error:
        check.equal("record", f"none: {error}", "an ExecutionRecord")
        return None


def _decode_exactly(fields: bytes) -> Record:
    if len(fields) > RECORD_BYTES:
        raise ValueError(f"a record has {len(fields) - RECORD_BYTES} bytes too many")
    return _program.decode_record(fields)


def _prove_leaf(
    node: Node, claim: Claim, check: OpenCheck, found: FoundLeaf, find_archive: FindArchive | None
) -> Flow[Record | None]:
    archive, tree = found.archive, found.tree
    if found.archive_account.owner != PROGRAM or tree.owner != PROGRAM:
        check.lacks("The archive's accounts do not belong to the program.")
        return None
    record = _decoded(check, lambda: _decode_exactly(_fields_of(archive)))
    if record is None:
        return None
    check.equal("archive.record", archive.record, claim.record)
    check.equal("archive.archive", archive.archive, _program.archive_address(archive.archive_index))
    check.equal("archive.tree", archive.tree, found.tree_address)
    leaf, root = _root_from(claim, archive)
    check.equal("archive.leaf", archive.leaf, leaf)
    check.equal("archive.root", archive.root, root)
    is_proven = _compare_root(check, archive, root, tree)
    if is_proven is not None:
        yield from _check_archiving(node, check, found)
        return record if is_proven else None
    fresh = (yield from find_archive(claim.execution_id)) if find_archive else None
    if fresh is None or fresh.fields != archive.fields or fresh.archive_index != archive.archive_index:
        check.lacks("The tree has grown since then, so a new proof of the leaf is needed. None was given.")
        return None
    _, present = _root_from(claim, fresh)
    if _compare_root(check, fresh, present, tree) is None:
        check.lacks("Neither the proof in the receipt nor the new proof gives a root that the tree has.")
    else:
        yield from _check_archiving(node, check, found)
    return record if present in _program.tree_roots(tree.data)[0] else None


def _fields_of(archive: Archive) -> bytes:
    try:
        return base64.b64decode(archive.fields, validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from None


def _root_from(claim: Claim, archive: Archive) -> tuple[str, str]:
    leaf = _program.leaf_of(key_of(claim.record), _fields_of(archive))
    root = _program.root_of(leaf, archive.leaf_index, [bytes.fromhex(node) for node in archive.proof])
    return leaf.hex(), root.hex()


def _compare_root(check: OpenCheck, archive: Archive, root: str, tree: NodeAccount) -> bool | None:
    """True if the tree has the root. None if it has had more roots than its account keeps: this may be an older one."""
    try:
        roots, count = _program.tree_roots(tree.data)
    except ValueError:
        roots, count = [], 0
    if not roots:
        check.lacks("The data of the tree's account is not a tree.")
        return False
    if archive.leaf_index >= count:
        check.equal("archive.leaf_index", str(archive.leaf_index), f"one of the tree's {count} leaves")
        return False
    is_there = root in roots
    if not is_there and count >= _program.ARCHIVE_BUFFER:
        return None
    check.equal("root from fields and proof", root, root if is_there else roots[0])
    return is_there


def _check_archiving(node: Node, check: OpenCheck, found: FoundLeaf) -> Flow[None]:
    """The transaction that made the leaf proves nothing more. But if the receipt names a wrong one, the check fails."""
    unknown = "It was not checked that archive.transaction archived the record: "
    try:
        transaction = yield from node.transaction(found.archive.transaction)
    except UnansweredError as error:
        check.notes(unknown + str(error))
        return
    if transaction is None:
        check.notes(f"{unknown}the node's history does not have it.")
        return
    adds = any(one.program == PROGRAM and found.tree_address in one.accounts for one in transaction.instructions)
    check.equal("archive.transaction", "adds to the tree" if adds else "another", "adds to the tree")


def _compare_fields(check: OpenCheck, claim: Claim, record: Record) -> None:
    receipt = claim.receipt
    if receipt is None:
        check.equal("status", record.status, record.status)
        check.equal("execution_id", format_uuid(record.execution_id), claim.execution_id)
        return
    check.equal("status", record.status, "completed")
    check.equal("execution_id", format_uuid(record.execution_id), claim.execution_id)
    check.equal("agent_id", record.listing, receipt.agent_id)
    check.equal("caller", record.caller, receipt.caller)
    check.equal("signing_key", record.signing_key, receipt.signing_key)
    check.equal("request_hash", record.request_hash.hex(), receipt.request_hash)
    check.equal("result_hash", f"sha256:{record.result_hash.hex()}", receipt.result_hash)
    check.equal("price_usdc", format_usdc(from_base_units(record.price)), format_usdc(receipt.price_usdc))
    check.equal("fee_bps", str(record.fee_bps), str(receipt.fee_bps))
    check.equal("opened_at", str(record.opened_at), seconds_of(receipt.opened_at))
    check.equal("settled_at", str(record.settled_at), seconds_of(receipt.settled_at))

"""Checks the chain's record of an execution: its account, or its leaf, proven against the account of the tree.

A receipt's own archive is not trusted: the fields give the leaf, and leaf and proof give the root.
"""

import base64
import binascii
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias
from uuid import UUID

from .._flow import Flow
from ..models import Archive
from ..money import format_usdc, from_base_units
from . import _program
from ._checks import Check, OpenCheck
from ._node import Node, NodeAccount, UnansweredError
from ._program import PROGRAM, RECORD_BYTES, Record
from .hashing import key_of
from .receipt import Receipt, seconds_of

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


def find_record(node: Node, receipt: Receipt, find_archive: FindArchive | None) -> Flow[Found]:
    """Finds the record: by the receipt's proof, else by its account, else by a proof from `find_archive`."""
    try:
        if receipt.archive is not None:
            return (yield from _find_leaf(node, receipt.archive))
        account = yield from node.account(receipt.record)
        if account is not None and account.owner == PROGRAM:
            return FoundAccount(account)
        archive = yield from _ask_for_archive(receipt, find_archive)
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
    node: Node, receipt: Receipt, found: Found, find_archive: FindArchive | None
) -> Flow[tuple[Check, Record | None]]:
    """Compares the record with the receipt. The record is returned if the chain proves it, else None."""
    check = OpenCheck("record", node.source)
    record: Record | None = None
    if isinstance(found, FoundNothing):
        check.lacks(found.reason)
    elif isinstance(found, FoundLeaf):
        record = yield from _prove_leaf(node, receipt, check, found, find_archive)
    else:
        data = found.account.data
        record = _decoded(check, lambda: _program.decode_record(_program.account_fields("ExecutionRecord", data)))
    if record is not None:
        _compare_fields(check, receipt, record)
    return check.end(), record


def _decoded(check: OpenCheck, decode: Callable[[], Record]) -> Record | None:
    try:
        return decode()
    except ValueError as error:
        check.equal("record", f"none: {error}", "an ExecutionRecord")
        return None


def _decode_exactly(fields: bytes) -> Record:
    if len(fields) > RECORD_BYTES:
        raise ValueError(f"the fields of a leaf have {len(fields) - RECORD_BYTES} bytes too many")
    return _program.decode_record(fields)


def _prove_leaf(
    node: Node, receipt: Receipt, check: OpenCheck, found: FoundLeaf, find_archive: FindArchive | None
) -> Flow[Record | None]:
    archive = found.archive
    if found.archive_account.owner != PROGRAM or found.tree.owner != PROGRAM:
        check.lacks("The archive's accounts do not belong to the program.")
        return None
    record = _decoded(check, lambda: _decode_exactly(_fields_of(archive)))
    if record is None:
        return None
    check.equal("archive.record", archive.record, receipt.record)
    check.equal("archive.archive", archive.archive, _program.archive_address(archive.archive_index))
    check.equal("archive.tree", archive.tree, found.tree_address)
    place = _place_of(receipt, archive)
    root = _program.root_of(*place).hex()
    check.equal("archive.leaf", archive.leaf, place.leaf.hex())
    check.equal("archive.root", archive.root, root)
    try:
        tree = _program.decode_tree(found.tree.data)
    except ValueError:
        check.lacks("The data of the tree's account is not a tree.")
        return None
    if place.leaf_index >= tree.count:
        check.equal("archive.leaf_index", str(place.leaf_index), f"one of the tree's {tree.count} leaves")
        return None
    is_proven = _compare_tree(check, place, tree)
    # An account with fewer leaves than this has every root that its tree has had.
    if not is_proven and tree.count < _program.ARCHIVE_BUFFER:
        check.equal("root from fields and proof", root, tree.roots[0].hex())
    elif not is_proven:
        fresh = yield from _ask_for_archive(receipt, find_archive)
        is_proven = fresh is not None and _compare_tree(check, _place_of(receipt, fresh), tree)
        if fresh is None:
            check.lacks("The tree has grown since then, so a new proof of the leaf is needed. None was given.")
        elif is_proven:
            check.equal("archive.fields", archive.fields, fresh.fields)
            if archive.fields != fresh.fields:
                return None
        else:
            check.lacks("Neither the proof in the receipt nor the new proof leads to nodes that the tree has.")
    return record if is_proven else None


def _ask_for_archive(receipt: Receipt, find_archive: FindArchive | None) -> Flow[Archive | None]:
    archive = (yield from find_archive(receipt.execution_id)) if find_archive else None
    try:
        if archive is not None:
            _fields_of(archive)
    except ValueError:
        return None  # It gives no bytes, so it is as unknown as without `find_archive`.
    return archive


def _fields_of(archive: Archive) -> bytes:
    try:
        return base64.b64decode(archive.fields, validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from None


class _Place(NamedTuple):
    leaf: bytes
    leaf_index: int
    proof: list[bytes]


def _place_of(receipt: Receipt, archive: Archive) -> _Place:
    leaf = _program.leaf_of(key_of(receipt.record), _fields_of(archive))
    return _Place(leaf, archive.leaf_index, [bytes.fromhex(node) for node in archive.proof])


def _compare_tree(check: OpenCheck, place: _Place, tree: _program.Tree) -> bool:
    """True if the tree proves the leaf, by the rule of the program (`proven_root`)."""
    proven = _program.proven_root(tree, *place)
    if proven is None:
        return False
    root = _program.root_of(*place)
    canopy_node = _program.root_of(place.leaf, place.leaf_index, place.proof[: _program.ARCHIVE_PROOF_NODES]).hex()
    if root == proven:
        check.equal("root from fields and proof", root.hex(), root.hex())
    else:
        check.equal("canopy node from fields and proof", canopy_node, canopy_node)
    return True


def _compare_fields(check: OpenCheck, receipt: Receipt, record: Record) -> None:
    check.equal("status", record.status, "completed")
    check.equal("execution_id", str(UUID(bytes=record.execution_id)), receipt.execution_id)
    check.equal("agent_id", record.listing, receipt.agent_id)
    check.equal("caller", record.caller, receipt.caller)
    check.equal("signing_key", record.signing_key, receipt.signing_key)
    check.equal("request_hash", record.request_hash.hex(), receipt.request_hash)
    check.equal("result_hash", f"sha256:{record.result_hash.hex()}", receipt.result_hash)
    check.equal("price_usdc", format_usdc(from_base_units(record.price)), format_usdc(receipt.price_usdc))
    check.equal("fee_bps", str(record.fee_bps), str(receipt.fee_bps))
    check.equal("opened_at", str(record.opened_at), seconds_of(receipt.opened_at))
    check.equal("settled_at", str(record.settled_at), seconds_of(receipt.settled_at))

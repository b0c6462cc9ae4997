"""The program's accounts and addresses that receipts need, from the program's IDL."""

import hashlib
import struct
from dataclasses import dataclass
from typing import Any

import base58
from Crypto.Hash import keccak
from nacl.bindings import crypto_core_ed25519_add

PROGRAM = "6wYfSpZq2bXE3TSRRh8HhNT8oHf4kZdy13ti9Nyepsyo"
STATUSES = ("open", "completed", "refunded")
DISCRIMINATORS = {
    "ExecutionRecord": bytes([133, 201, 182, 206, 224, 111, 45, 168]),
    "AgentListing": bytes([224, 156, 61, 213, 111, 100, 43, 56]),
    "Archive": bytes([231, 36, 31, 240, 210, 212, 36, 107]),
}
ARCHIVE_DEPTH = 20
ARCHIVE_BUFFER = 64
ARCHIVE_PROOF_NODES = 10
ARCHIVE_TREE_BYTES = 109_752
RECORD_HEAD_BYTES = 102
ARCHIVE_LEAF_DOMAIN = b"agent-marketplace:archive:v1"


@dataclass(frozen=True)
class Record:
    """The fields of an ExecutionRecord that receipts are compared with. Amounts are base units, times unix seconds."""

    status: str
    execution_id: bytes
    listing: str
    caller: str
    signing_key: str
    price: int
    request_hash: bytes
    result_hash: bytes
    opened_at: int
    settled_at: int
    fee_bps: int


# version status id listing caller price settled_at dispute_window_seconds bump escrow_bump spender_bump signing_key
# key_id rent_sponsor request_hash result_hash opened_at deadline refund_at listing_version execution_time_ms
# gas_lamports fee_bps
_RECORD = struct.Struct("<BB16s32s32sQqIBBB32s16s32s32s32sqqqIIIH")
RECORD_BYTES = _RECORD.size


def decode_record(fields: bytes) -> Record:
    """A record's fields, without the discriminator. Raises ValueError."""
    if len(fields) < RECORD_BYTES:
        raise ValueError(f"the data ends {RECORD_BYTES - len(fields)} bytes too early")
    values: tuple[Any, ...] = _RECORD.unpack_from(fields)
    status: int = values[1]
    if status >= len(STATUSES):
        raise ValueError(f"ExecutionStatus has no variant {status}")
    return Record(
        status=STATUSES[status],
        execution_id=values[2],
        listing=encode(values[3]),
        caller=encode(values[4]),
        signing_key=encode(values[11]),
        price=values[5],
        request_hash=values[14],
        result_hash=values[15],
        opened_at=values[16],
        settled_at=values[6],
        fee_bps=values[22],
    )


def account_fields(name: str, data: bytes) -> bytes:
    """The bytes after the discriminator. Raises ValueError if the account is not of this name."""
    if data[:8] != DISCRIMINATORS[name]:
        raise ValueError(f"not a {name} account: discriminator mismatch")
    return data[8:]


# version status bump creator listing_id payout signing_key
_LISTING = struct.Struct("<BBB32s16s32s32s")


def decode_signing_key(data: bytes) -> str:
    """The signing key of an AgentListing. Raises ValueError."""
    try:
        return encode(_LISTING.unpack_from(account_fields("AgentListing", data))[6])
    except struct.error as error:
        raise ValueError(str(error)) from None


def decode_archive(data: bytes) -> str:
    """The address of an archive's tree. Raises ValueError."""
    fields = account_fields("Archive", data)
    if len(fields) < 36:
        raise ValueError("the data ends too early")
    return encode(fields[4:36])


def encode(address: bytes) -> str:
    return base58.b58encode(address).decode()


def derive(*seeds: bytes) -> str:
    """The program's address for these seeds: the first hash that is not a point of the curve."""
    program = base58.b58decode(PROGRAM)
    for bump in range(255, -1, -1):
        address = hashlib.sha256(b"".join(seeds) + bytes([bump]) + program + b"ProgramDerivedAddress").digest()
        if not is_on_curve(address):
            return encode(address)
    raise ValueError("no bump gives an address for these seeds")


def is_on_curve(key: bytes) -> bool:
    """True if 32 bytes encode a point of Ed25519: libsodium refuses to add others."""
    try:
        crypto_core_ed25519_add(key, _BASE_POINT)
    except RuntimeError:
        return False
    return True


_BASE_POINT = bytes([0x58] + [0x66] * 31)


def record_address(execution_id: bytes) -> str:
    return derive(b"execution", execution_id)


def archive_address(index: int) -> str:
    return derive(b"archive", index.to_bytes(2, "little"))


def keccak_256(data: bytes) -> bytes:
    """The hash of the archive's trees. hashlib has only the later SHA-3, which pads differently."""
    return keccak.new(digest_bits=256, data=data).digest()


def leaf_of(record: bytes, fields: bytes) -> bytes:
    """A record's leaf: the fields that a dispute needs are hashed as they are, the others by their hash."""
    head, rest = fields[:RECORD_HEAD_BYTES], fields[RECORD_HEAD_BYTES:]
    return keccak_256(ARCHIVE_LEAF_DOMAIN + record + head + keccak_256(rest))


def root_of(leaf: bytes, index: int, proof: list[bytes]) -> bytes:
    """The root of a leaf and its sibling nodes. It proves something only if a tree's account has had that root."""
    node = leaf
    for level, sibling in enumerate(proof):
        node = keccak_256(sibling + node if index >> level & 1 else node + sibling)
    return node


_HEADER_BYTES = 56
_COUNTERS_BYTES = 24
_CHANGE_BYTES = 32 + 32 * ARCHIVE_DEPTH + 4 + 4
_CANOPY_AT = _HEADER_BYTES + _COUNTERS_BYTES + (ARCHIVE_BUFFER + 1) * _CHANGE_BYTES


@dataclass(frozen=True)
class Tree:
    """The content of a tree's account."""

    data: bytes
    roots: list[bytes]
    """Those that the account keeps, the present one first."""
    count: int
    """Number of leaves."""


def decode_tree(data: bytes) -> Tree:
    """Raises ValueError if the data are not a tree in the layout of SPL Account Compression and of our size."""
    if len(data) != ARCHIVE_TREE_BYTES or struct.unpack_from("<BBII", data) != (1, 0, ARCHIVE_BUFFER, ARCHIVE_DEPTH):
        raise ValueError("the account data is not an archive's tree")
    latest, kept = struct.unpack_from("<QQ", data, _HEADER_BYTES + 8)
    if latest >= ARCHIVE_BUFFER:
        raise ValueError("the tree's latest change has an index out of range")
    roots: list[bytes] = []
    for back in range(max(1, min(kept, ARCHIVE_BUFFER))):
        at = _HEADER_BYTES + _COUNTERS_BYTES + (latest - back) % ARCHIVE_BUFFER * _CHANGE_BYTES
        roots.append(data[at : at + 32])
    return Tree(data, roots, int.from_bytes(data[_CANOPY_AT - 8 : _CANOPY_AT - 4], "little"))


def proven_root(tree: Tree, leaf: bytes, index: int, proof: list[bytes]) -> bytes | None:
    """The root by which a tree's account proves a leaf: one that it keeps and the proof leads to.

    Else, if the lower nodes lead to the present node of its canopy, the present root: a proof made when all
    leaves below that node were there holds for ever. None if neither is true.
    """
    if len(proof) != ARCHIVE_DEPTH or not 0 <= index < tree.count:
        return None
    root = root_of(leaf, index, proof)
    if root in tree.roots:
        return root
    # Nodes are numbered from 1, the root, level by level. The canopy starts with node 2.
    at = _CANOPY_AT + 32 * (((2**ARCHIVE_DEPTH + index) >> ARCHIVE_PROOF_NODES) - 2)
    node = root_of(leaf, index, proof[:ARCHIVE_PROOF_NODES])
    return tree.roots[0] if node == tree.data[at : at + 32] else None

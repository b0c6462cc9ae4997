"""Hashes, ids and signatures that tie a paid execution to a result."""

import hashlib
import re
from collections.abc import Mapping
from typing import Any

import base58
import rfc8785
from nacl.exceptions import BadSignatureError
from nacl.signing import SigningKey, VerifyKey

_RESULT_HASH = re.compile(r"sha256:([0-9a-f]{64})")
_SIGNATURE = re.compile(r"ed25519:([1-9A-HJ-NP-Za-km-z]{64,88})")
_BASE58 = re.compile(r"[1-9A-HJ-NP-Za-km-z]{0,88}")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_LARGEST_EXACT = 2**53 - 1


def hash_result(result: str) -> str:
    """`sha256:` and the hex SHA-256 of the result's UTF-8 bytes. Raises ValueError for lone surrogates."""
    return f"sha256:{hashlib.sha256(result.encode()).hexdigest()}"


def parse_result_hash(text: str) -> bytes | None:
    """The 32 bytes of a result hash; None for any other text."""
    match = _RESULT_HASH.fullmatch(text)
    return bytes.fromhex(match[1]) if match else None


def request_hash(task: str, parameters: Mapping[str, Any] | None = None) -> bytes:
    """SHA-256 of the RFC 8785 JSON `{"parameters":P,"task":T}`. Raises ValueError for values without canonical form."""
    try:
        return hashlib.sha256(rfc8785.dumps({"parameters": _doubles(parameters or {}), "task": task})).digest()
    except (RecursionError, OverflowError) as error:
        raise ValueError(f"no canonical JSON form: {error}") from error


def _doubles(value: Any) -> Any:
    """RFC 8785 has only doubles: larger integers become the nearest one, as in JavaScript."""
    if isinstance(value, bool) or not isinstance(value, (int, Mapping, list, tuple)):
        return value
    if isinstance(value, int):
        return value if abs(value) <= _LARGEST_EXACT else float(value)
    if isinstance(value, Mapping):
        return {name: _doubles(item) for name, item in value.items()}
    return [_doubles(item) for item in value]


def execution_message(program_id: str, execution_id: str, request_hash_hex: str, result_hash: str) -> str:
    """The message of an `execution_signature`: a result bound to one execution of one program."""
    return f"agent-marketplace:v1:{program_id}:{execution_id}:{request_hash_hex}:{result_hash}"


def sign_message(secret_key: bytes, message: str) -> str:
    """`ed25519:` and the base58 signature. The key has 64 bytes: seed, then public key."""
    if len(secret_key) != 64:
        raise ValueError(f"a secret key must be 64 bytes, not {len(secret_key)}")
    signature = SigningKey(secret_key[:32]).sign(message.encode()).signature
    return f"ed25519:{base58.b58encode(signature).decode()}"


def verify_message(public_key: bytes, message: str, signature: str) -> bool:
    """True if it is a signature of the key over the message. Never raises, even for malformed input."""
    parsed = parse_signature(signature)
    if parsed is None:
        return False
    try:
        VerifyKey(public_key).verify(message.encode(), parsed)
    except (BadSignatureError, ValueError):
        return False
    return True


def verify_result_signature(public_key: bytes, result_hash: str, signature: str) -> bool:
    """True if it is the creator's signature over this result hash."""
    return parse_result_hash(result_hash) is not None and verify_message(public_key, result_hash, signature)


def parse_signature(text: str) -> bytes | None:
    """The 64 bytes in `ed25519:` and base58; None for any other text."""
    match = _SIGNATURE.fullmatch(text)
    found = decode_base58(match[1]) if match else None
    return found if found is not None and len(found) == 64 else None


def decode_base58(text: str) -> bytes | None:
    """The bytes of a key or a signature; None for any other text, also for one that would take long to decode."""
    return base58.b58decode(text) if _BASE58.fullmatch(text) else None


def key_of(address: str) -> bytes:
    """The bytes of a base58 key, empty if malformed: such a key verifies nothing."""
    return decode_base58(address) or b""


def parse_uuid(text: str) -> bytes | None:
    """The 16 bytes of a lower-case UUID; None for any other text."""
    return bytes.fromhex(text.replace("-", "")) if _UUID.fullmatch(text) else None

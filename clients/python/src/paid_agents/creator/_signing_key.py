"""A creator's signing key on disk, in the form of solana-keygen: a JSON array of 64 bytes, seed then public key."""

import json
import os
import uuid
from pathlib import Path
from typing import Any

import base58
from nacl.signing import SigningKey

from .._secrets import require_path

_LENGTH = 64


def generate_signing_key() -> bytes:
    """A new random key: 64 bytes, seed then public key."""
    key = SigningKey.generate()
    return bytes(key) + bytes(key.verify_key)


def signing_key_address(signing_key: bytes) -> str:
    """The public half as base58: the `signing_key` of a listing."""
    return base58.b58encode(signing_key[32:]).decode()


def save_signing_key(path: str | os.PathLike[str], signing_key: bytes) -> None:
    """Writes the key, readable by its owner only.

    The file appears complete or not at all. An existing file raises FileExistsError: a listed key cannot be made again.
    """
    _require(signing_key, "this key")
    draft = f"{os.fspath(path)}.{uuid.uuid4()}"
    file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(file, f"{json.dumps(list(signing_key))}\n".encode())
        os.fsync(file)
        os.link(draft, path)
    finally:
        os.close(file)
        os.unlink(draft)


def load_signing_key(path: str | os.PathLike[str]) -> bytes:
    """Reads a key file. Raises ValueError, with the file's name, if it is not 64 bytes or its halves do not match.

    Raises ValueError without the path if that is a key itself.
    """
    require_path(path)
    try:
        value: Any = json.loads(Path(path).read_bytes())  # Of the encodings of JSON, with or without a mark.
        key = bytes(value)
    except (ValueError, TypeError):
        key = b""
    if len(key) != _LENGTH:
        raise ValueError(f"{os.fspath(path)} is not a key file: it must be a JSON array of {_LENGTH} bytes")
    _require(key, os.fspath(path))
    return key


def _require(signing_key: bytes, what: str) -> None:
    """Signing with another key's public half would reveal the secret half, so halves that do not match are refused."""
    if len(signing_key) != _LENGTH:
        raise ValueError(f"{what} must be {_LENGTH} bytes, not {len(signing_key)}")
    if bytes(SigningKey(signing_key[:32]).verify_key) != signing_key[32:]:
        raise ValueError(f"{what} is damaged: its public half does not belong to its secret half")

"""Lets a creator accept only calls that the marketplace signed: HTTP Message Signatures (RFC 9421) with Ed25519.

Keys come from the marketplace's directory and are cached. A call with an unknown key causes a new read, so the
marketplace can change its key without notice.
"""

import asyncio
import base64
import binascii
import datetime
import hashlib
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import httpx
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from http_message_signatures import algorithms
from http_message_signatures.exceptions import HTTPMessageSignaturesException
from http_message_signatures.resolvers import HTTPSignatureKeyResolver
from http_message_signatures.signatures import HTTPMessageVerifier

from ._request import PURPOSE_HEADER, SIGNING_KEY_HEADER

TAG = "agent-marketplace-call"
COVERED = (
    "@method",
    "@authority",
    "@path",
    "content-type",
    "content-digest",
    SIGNING_KEY_HEADER,
    PURPOSE_HEADER,
)
PARAMETERS = ("created", "expires", "nonce", "keyid", "alg", "tag")
CLOCK_SKEW = datetime.timedelta(seconds=60)
KEY_DIRECTORY_PATH = "/.well-known/http-message-signatures-directory"
KEEP_SECONDS = 600.0
"""The directory is read again after this time, so a removed key is refused by then."""
STALE_SECONDS = 86_400.0
"""While the directory cannot be read, its last keys stay valid for this time."""
RETRY_SECONDS = 5.0
"""Calls with unknown keys cause at most one read of the directory in this time."""
FETCH_TIMEOUT = 5.0
MAX_DIRECTORY_BYTES = 64 * 1024


class KeysUnavailableError(Exception):
    """The directory cannot be read, and its last read is too old or lacks the key."""


@dataclass(frozen=True)
class ReceivedCall:
    method: str
    authority: str
    """Host as the marketplace addressed it; the port only if it is not the scheme's default."""
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def url(self) -> str:
        return f"https://{self.authority}{self.path}"


@dataclass(frozen=True)
class _Key:
    key: Ed25519PublicKey
    not_before: float
    not_after: float


class _Known(HTTPSignatureKeyResolver):
    """Keys by their RFC 7638 thumbprint, regardless of `kid`."""

    def __init__(self, keys: Mapping[str, _Key]) -> None:
        self._keys = keys
        self.missing: str | None = None

    def resolve_public_key(self, key_id: str) -> Ed25519PublicKey:
        known, now = self._keys.get(key_id), time.time()
        if known is None:
            self.missing = key_id
        if known is None or not known.not_before <= now < known.not_after:
            raise HTTPMessageSignaturesException("unknown key")
        return known.key

    def resolve_private_key(self, key_id: str) -> bytes:
        raise NotImplementedError


class _Verifier(HTTPMessageVerifier):
    max_clock_skew = CLOCK_SKEW


class CallVerifier:
    """Verifies calls against a marketplace's directory, or against fixed keys."""

    def __init__(
        self,
        marketplace_url: str | None = None,
        *,
        keys: list[dict[str, Any]] | None = None,
        authority: str | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """`authority`: host (and port) of the listed endpoint, if a proxy in front of this server rewrites Host."""
        if (marketplace_url is None) == (keys is None):
            raise ValueError("exactly one of marketplace_url and keys is required")
        self._url = None if marketplace_url is None else marketplace_url.rstrip("/") + KEY_DIRECTORY_PATH
        self._keys = _read_keys(keys or [])
        self._authority = authority
        self._transport = transport
        self._read_at = self._tried_at = float("-inf")
        self._is_readable = True
        self._lock: asyncio.Lock | None = None

    async def verify(self, call: ReceivedCall) -> bool:
        """True if the call has a valid signature of the marketplace. Raises KeysUnavailableError."""
        if self._authority is not None:
            call = ReceivedCall(call.method, self._authority, call.path, call.headers, call.body)
        digest = base64.b64encode(hashlib.sha256(call.body).digest()).decode()
        if call.headers.get("content-digest") != f"sha-256=:{digest}:":
            return False
        if self._url is not None and time.monotonic() - self._read_at > KEEP_SECONDS:
            await self._refresh()
        is_valid, missing = self._check(call)
        if missing is not None and self._url is not None:
            await self._refresh()
            is_valid, missing = self._check(call)
        is_unknown = missing is not None and not self._is_readable
        if self._url is not None and (is_unknown or time.monotonic() - self._read_at > STALE_SECONDS):
            raise KeysUnavailableError(f"{self._url} cannot be read")
        return is_valid

    def _check(self, call: ReceivedCall) -> tuple[bool, str | None]:
        known = _Known(self._keys)
        verifier = _Verifier(signature_algorithm=algorithms.ED25519, key_resolver=known)
        try:
            results = verifier.verify(call, expect_tag=TAG, require_components=COVERED)
        except Exception:  # Unreadable headers are like missing ones; the library raises many kinds for them.
            return False, known.missing
        return bool(results) and all(name in result.parameters for result in results for name in PARAMETERS), None

    async def _refresh(self) -> None:
        """Concurrent calls wait for the same read."""
        self._lock = self._lock or asyncio.Lock()
        async with self._lock:
            if time.monotonic() - self._tried_at <= RETRY_SECONDS:
                return
            try:
                self._keys = _read_keys(await self._fetch())
                self._read_at = time.monotonic()
                self._is_readable = True
            except (httpx.HTTPError, ValueError):
                self._is_readable = False  # The last keys stay until they are stale.
            finally:
                self._tried_at = time.monotonic()

    async def _fetch(self) -> list[Any]:
        accept = {"accept": "application/http-message-signatures-directory+json, application/json"}
        chunks: list[bytes] = []
        async with (
            httpx.AsyncClient(transport=self._transport, timeout=FETCH_TIMEOUT) as client,
            client.stream("GET", cast("str", self._url), headers=accept) as response,
        ):
            if response.status_code != 200:
                raise ValueError(f"status {response.status_code}")
            async for chunk in response.aiter_bytes():
                chunks.append(chunk)
                if sum(map(len, chunks)) > MAX_DIRECTORY_BYTES:
                    raise ValueError("the directory is too large")
        parsed: Any = json.loads(b"".join(chunks))
        keys: Any = parsed.get("keys") if isinstance(parsed, dict) else None
        if not isinstance(keys, list):
            raise ValueError("not a key directory")
        return keys


def _read_keys(jwks: list[Any]) -> dict[str, _Key]:
    """Keys that are not Ed25519 are ignored."""
    keys: dict[str, _Key] = {}
    for jwk in jwks:
        if not isinstance(jwk, dict) or jwk.get("kty") != "OKP" or jwk.get("crv") != "Ed25519":
            continue
        given = cast("dict[str, Any]", jwk)
        x = str(given.get("x"))
        thumbprint = hashlib.sha256(f'{{"crv":"Ed25519","kty":"OKP","x":"{x}"}}'.encode()).digest()
        try:
            key = Ed25519PublicKey.from_public_bytes(base64.urlsafe_b64decode(x + "=" * (-len(x) % 4)))
        except (ValueError, binascii.Error):
            continue
        key_id = base64.urlsafe_b64encode(thumbprint).rstrip(b"=").decode()
        keys[key_id] = _Key(key, float(given.get("nbf", 0)), float(given.get("exp", "inf")))
    return keys

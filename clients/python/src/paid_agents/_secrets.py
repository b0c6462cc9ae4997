"""Keeps API keys, key files and the keys in URLs out of messages."""

import os
import re

import httpx

_AROUND = "\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"
"""Invisible characters that `str.strip` does not know."""
_KEY_ITSELF = re.compile(r"(\[[\d\s,]*\]?|[0-9A-Za-z+=]{64,})\s*")
"""A secret key in the place of a path: a JSON array, or 32 or 64 bytes as text."""


# A letter of another script may stand directly before a secret, so only ASCII makes a word.
_SECRETS = [
    (re.compile(r"(?a:\b)crtx_(live|test)_([0-9A-Za-z]{8})_[0-9A-Za-z]+"), r"crtx_\1_\2_…"),
    (re.compile(r"(?a:\b)whsec_[0-9A-Za-z+/=]+"), "whsec_…"),
    (re.compile(r"\[?\s*\d{1,3}(?:\s*,\s*\d{1,3}){31,}\s*\]?"), "[…]"),  # The bytes of a key file.
    (re.compile(r"((?a:\b)[a-z][a-z0-9+.-]*://)[^\s/?#\"']*@", re.IGNORECASE), r"\1"),
    (re.compile(r"((?a:\b)[a-z][a-z0-9+.-]*://[^\s?#\"']*\?)[^\s\"']+", re.IGNORECASE), r"\1…"),
]


def without_secrets(text: str) -> str:
    """A message of a lower layer, to be printed. The id of a key stays, so that its owner recognises it."""
    for pattern, shown in _SECRETS:
        text = pattern.sub(shown, text)
    return text


def bare_key(given: str) -> str:
    """A key without what a file, its settings or a clipboard add around it."""
    key = given
    while key != (key := key.strip().strip(_AROUND)):
        pass
    if len(key) > 1 and key[0] == key[-1] and key[0] in "\"'":
        return bare_key(key[1:-1])  # Docker passes the quotes of a file of settings on.
    return key


def checked_api_key(given: str | None) -> str | None:
    """The bare key; None if nothing is left.

    Raises ValueError, without the key, for a character that no key has: httpx would quote the key in its own error.
    """
    key = re.sub(r"^Bearer\s+", "", bare_key(given or ""), flags=re.IGNORECASE)
    for at, character in enumerate(key, 1):
        if not "!" <= character <= "~":
            raise ValueError(f"the API key has a wrong character at position {at} of {len(key)}; copy it again")
    return key or None


def checked_header(name: str, value: str) -> str:
    """The value of a header. Raises ValueError for a character that HTTP cannot send."""
    if any(not (character == "\t" or " " <= character <= "~") for character in value):
        raise ValueError(f"{name} has a character that HTTP cannot send")
    return value


def origin_of(url: str) -> str:
    """Scheme and host of a URL for a message. A node's key is often in the rest."""
    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, TypeError):
        return "the given URL"
    port = "" if parsed.port is None else f":{parsed.port}"
    return f"{parsed.scheme}://{parsed.host}{port}" if parsed.host else "the given URL"


def require_path(path: str | os.PathLike[str]) -> None:
    """Raises ValueError, without the path, if it is a key itself."""
    if _KEY_ITSELF.fullmatch(os.fspath(path).rpartition("/")[2]):
        raise ValueError("the path of a key file is needed, not the key itself")

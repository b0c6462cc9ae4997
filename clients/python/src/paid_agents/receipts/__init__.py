"""Checks receipts of paid executions with any Solana node, without the service and without trust in the sender."""

from collections.abc import Mapping
from typing import Any

import httpx

from .._drive import AsyncTransport, Transport
from . import _flows
from ._checks import CHECKS, Check, CheckName, Comparison, Verification
from .hashing import (
    execution_message,
    hash_result,
    request_hash,
    sign_message,
    verify_message,
    verify_result_signature,
)
from .receipt import Receipt

__all__ = [
    "CHECKS",
    "Check",
    "CheckName",
    "Comparison",
    "Receipt",
    "Verification",
    "averify_receipt",
    "execution_message",
    "hash_result",
    "request_hash",
    "sign_message",
    "verify_message",
    "verify_receipt",
    "verify_result_signature",
]


def verify_receipt(
    receipt: Receipt | Mapping[str, Any] | str | bytes,
    *,
    rpc_url: str | None,
    transport: httpx.BaseTransport | None = None,
) -> Verification:
    """Checks a receipt, given as JSON or parsed. Never raises for a bad one.

    `rpc_url`: a node that you trust more than the sender; None makes only the checks that need no network.
    """
    with httpx.Client(transport=transport) as client:
        return Transport(client).run(_flows.verify(receipt, rpc_url))


async def averify_receipt(
    receipt: Receipt | Mapping[str, Any] | str | bytes,
    *,
    rpc_url: str | None,
    transport: httpx.AsyncBaseTransport | None = None,
) -> Verification:
    """`verify_receipt` for asyncio."""
    async with httpx.AsyncClient(transport=transport) as client:
        return await AsyncTransport(lambda: client).run(_flows.verify(receipt, rpc_url))

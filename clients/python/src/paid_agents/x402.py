"""Paid calls without an API key: a wallet checks the quote of each call, then pays it.

A quote names an address to pay. The address is a deposit of the program only if it is derived from all terms of the
call. Other x402 clients pay to any address that they get.
"""

import hashlib
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, Literal

import base58
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from ._calls import Payment
from .money import to_base_units
from .receipts._program import derive
from .receipts.hashing import decode_base58, request_hash

if TYPE_CHECKING:
    from solders.keypair import Keypair

__all__ = ["CheckedQuote", "Payment", "QuoteRefusedError", "check_quote", "pay_with_x402"]

MAX_SERVICE_FEE = 50_000
"""Base units: the program's own limit."""
_NETWORKS = {
    "mainnet": ("solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp", "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"),
    "devnet": ("solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1", "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU"),
}
"""The CAIP-2 name, and the mint of Circle's USDC."""


class QuoteRefusedError(ValueError):
    """The quote is not the marketplace's for this call. Do not pay it."""

    def __init__(self, field: str, got: object, expected: object) -> None:
        super().__init__(f"the quote's {field} is {got}, expected {expected}; do not pay it")
        self.field = field
        """The field of the quote, such as `extra.request_hash`."""
        self.got = str(got)
        self.expected = str(expected)


@dataclass(frozen=True)
class CheckedQuote:
    """The amounts and terms of a checked quote. Amounts are base units: a millionth of a USDC."""

    deposit: str
    """The deposit, which is `payTo` of the quote."""
    amount: int
    price: int
    service_fee: int
    timeout_seconds: int
    listing_version: int


def _address(text: str) -> str:
    decoded = decode_base58(text)
    if decoded is None or len(decoded) != 32:
        raise ValueError("expected an address: 32 bytes in base58")
    return text


def _units(value: object) -> int:
    is_text = isinstance(value, str) and value.isascii() and value.isdigit() and str(int(value)) == value
    if not is_text or int(str(value)) >= 2**64:
        raise ValueError("expected base units: the decimal text of an unsigned 64-bit integer")
    return int(str(value))


_Address = Annotated[str, AfterValidator(_address)]
_U32 = Annotated[int, Field(ge=0, lt=2**32)]
_U64 = Annotated[int, BeforeValidator(_units)]


class _Model(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")


class _Extra(_Model):
    feePayer: _Address  # noqa: N815
    paymentFlow: Literal["escrow"]  # noqa: N815
    listing: _Address
    listing_version: _U32
    request_hash: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    timeout_seconds: _U32
    nonce: Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
    payer: _Address | None
    price: _U64
    service_fee: _U64


class _Quote(_Model):
    scheme: Literal["exact"]
    network: str
    amount: _U64
    asset: _Address
    payTo: _Address  # noqa: N815
    extra: _Extra


def check_quote(
    quote: Mapping[str, Any],
    *,
    agent_id: str,
    task: str,
    parameters: Mapping[str, Any] | None = None,
    payer: str | None,
    max_cost_usdc: Decimal | str | int,
    timeout_seconds: int | None = None,
    network: Literal["mainnet", "devnet"] = "mainnet",
    asset: str | None = None,
) -> CheckedQuote:
    """Checks one of the `accepts` of a 402 answer against the requested call. Raises QuoteRefusedError: do not pay.

    Money paid to the address of a checked quote can only fund this call, or come back.
    `payer`: the paying wallet, as in `?payer=` of the request; None if the request named none.
    `max_cost_usdc`: maximum cost of the call, with the service fee.
    `network`: a marketplace on a local network calls itself devnet. `asset`: the mint of USDC, by default Circle's.
    """
    try:
        read = _Quote.model_validate(quote)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "value"
        raise QuoteRefusedError(field, first["input"], first["msg"]) from None
    extra = read.extra
    if network not in _NETWORKS:
        raise ValueError(f"network must be mainnet or devnet, not {network}; a local network calls itself devnet")
    name, usdc = _NETWORKS[network]
    _expect("network", read.network, name)
    _expect("asset", read.asset, usdc if asset is None else asset)
    _expect("extra.listing", extra.listing, agent_id)
    _expect("extra.request_hash", extra.request_hash, request_hash(task, parameters).hex())
    timeout = extra.timeout_seconds if timeout_seconds is None else timeout_seconds
    _expect("extra.timeout_seconds", extra.timeout_seconds, timeout)
    _expect("extra.payer", extra.payer, payer)
    _at_most("extra.service_fee", extra.service_fee, MAX_SERVICE_FEE)
    _expect("amount", read.amount, extra.price + extra.service_fee)
    _at_most("amount", read.amount, to_base_units(max_cost_usdc))
    if extra.feePayer == payer:  # The fee payer signs the whole transaction and needs SOL.
        raise QuoteRefusedError("extra.feePayer", extra.feePayer, "another wallet")
    deposit = _deposit_of(extra)
    _expect("payTo", read.payTo, deposit)
    return CheckedQuote(
        deposit, read.amount, extra.price, extra.service_fee, extra.timeout_seconds, extra.listing_version
    )


def pay_with_x402(
    *,
    wallet: "Keypair",
    network: Literal["mainnet", "devnet"] = "mainnet",
    asset: str | None = None,
    rpc_url: str | None = None,
    on_quote: Callable[[CheckedQuote], None] | None = None,
) -> Payment:
    """Makes `Client(payment=...)` and `AsyncClient(payment=...)` pay for each run from a wallet, not with an API key.

    Needs the extra `x402` of this package. A quote that does not match the call is not paid: the call raises
    QuoteRefusedError.
    `wallet`: a `solders.keypair.Keypair`. It needs USDC, but no SOL. `network` and `asset`: as for `check_quote`.
    `rpc_url`: a Solana node, by default a public node of the network.
    `on_quote`: called with each quote that passed the checks, before it is paid. Raise to refuse the payment.
    """
    from ._payment import WalletPayment  # Imported here, because only this needs the package x402.

    return WalletPayment(wallet, network, asset, rpc_url, on_quote)


def _expect(field: str, got: object, expected: object) -> None:
    if got != expected:
        raise QuoteRefusedError(field, got, expected)


def _at_most(field: str, got: int, most: int) -> None:
    if got > most:
        raise QuoteRefusedError(field, got, f"at most {most}")


def _deposit_of(extra: _Extra) -> str:
    """Derives the deposit's address from its terms, as the program does."""
    terms = hashlib.sha256(
        b"agent-marketplace:deposit-terms:v1:"
        + base58.b58decode(extra.listing)
        + struct.pack("<I", extra.listing_version)
        + bytes.fromhex(extra.request_hash)
        + struct.pack("<I", extra.timeout_seconds)
        + bytes.fromhex(extra.nonce)
    ).digest()
    wallet = bytes(32) if extra.payer is None else base58.b58decode(extra.payer)
    amounts = struct.pack("<QQ", extra.price, extra.service_fee)
    return derive(b"deposit", hashlib.sha256(b"agent-marketplace:deposit:v1:" + terms + wallet + amounts).digest())

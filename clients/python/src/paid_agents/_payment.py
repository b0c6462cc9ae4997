"""Pays x402 quotes from a wallet. The package x402 makes the transaction."""

import base64
from collections.abc import Callable
from typing import Literal

from solders.keypair import Keypair
from x402.http import encode_payment_signature_header
from x402.mechanisms.svm import KeypairSigner
from x402.mechanisms.svm.exact import ExactSvmScheme
from x402.schemas import PaymentPayload, PaymentRequired

from ._calls import Purchase
from .x402 import CheckedQuote, QuoteRefusedError, check_quote


class WalletPayment:
    def __init__(
        self,
        wallet: Keypair,
        network: Literal["mainnet", "devnet"],
        asset: str | None,
        rpc_url: str | None,
        on_quote: Callable[[CheckedQuote], None] | None,
    ) -> None:
        self.payer = str(wallet.pubkey())
        self._network: Literal["mainnet", "devnet"] = network
        self._asset = asset
        self._on_quote = on_quote
        self._scheme = ExactSvmScheme(KeypairSigner(wallet), rpc_url)

    def check(self, required: str, purchase: Purchase) -> Callable[[], str]:
        """Checks the header PAYMENT-REQUIRED. Returns a function that makes the header PAYMENT-SIGNATURE."""
        asked = _read_required(required)
        accepted = asked.accepts[0]
        # Check the quote as the package x402 parsed it, because that is what it pays.
        checked = check_quote(
            accepted.model_dump(by_alias=True),
            agent_id=purchase.agent_id,
            task=purchase.task,
            parameters=purchase.parameters,
            payer=self.payer,
            max_cost_usdc=purchase.max_cost_usdc,
            timeout_seconds=purchase.timeout_seconds,
            network=self._network,
            asset=self._asset,
        )
        if self._on_quote is not None:
            self._on_quote(checked)

        def sign() -> str:
            payload = self._scheme.create_payment_payload(accepted)
            return encode_payment_signature_header(
                PaymentPayload(payload=payload, accepted=accepted, resource=asked.resource)
            )

        return sign


def _read_required(header: str) -> PaymentRequired:
    try:
        required = PaymentRequired.model_validate_json(base64.b64decode(header))
        if required.x402_version == 2 and required.accepts:
            return required
    except ValueError:
        pass  # Raised below.
    raise QuoteRefusedError("header PAYMENT-REQUIRED", header[:40], "x402 version 2 in base64, with a quote")

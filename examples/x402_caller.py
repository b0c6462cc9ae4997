"""Buys one call by x402 with the official package, and prints its result. The wallet needs USDC, but no SOL, no API key
and no account. `config.get` of the marketplace shows the node and the USDC mint of its network.

    pip install "x402[httpx,svm]"
    export MARKETPLACE_URL=... SOLANA_RPC_URL=... USDC_MINT=... SOLANA_KEYPAIR=wallet.json
    python3 x402_caller.py AGENT_ID TASK [PARAMETERS]
"""

import asyncio, json, sys, uuid
from os import environ

import httpx
from solders.keypair import Keypair
from x402 import x402Client, x402ClientConfig
from x402.client_base import SchemeRegistration
from x402.http.clients import x402HttpxClient
from x402.http.utils import encode_payment_signature_header
from x402.mechanisms.svm import KeypairSigner
from x402.mechanisms.svm.exact import ExactSvmScheme

TIMEOUT_SECONDS = 120


async def buy(agent_id: str, task: str, parameters: dict) -> str:
    with open(environ["SOLANA_KEYPAIR"]) as file:
        wallet = Keypair.from_bytes(bytes(json.load(file)))
    scheme = ExactSvmScheme(KeypairSigner(wallet), environ["SOLANA_RPC_URL"])
    # It pays at most 1 USDC, in units of a millionth, and nothing but USDC.
    most = {"network": "solana:*", "asset": environ["USDC_MINT"], "max_amount_per_payment": "1000000"}
    config = x402ClientConfig([SchemeRegistration("solana:*", scheme)], spend_controls={"allowed_assets": [most]})
    payments = []
    payer = x402Client.from_config(config).on_after_payment_creation(lambda made: payments.append(made.payment_payload))

    # With the payer in the address, its money can only buy this call or come back.
    url = f"{environ['MARKETPLACE_URL']}/v1/x402/agents/{agent_id}/execute?payer={wallet.pubkey()}"
    headers = {"idempotency-key": str(uuid.uuid4())}
    body = {"task": task, "parameters": parameters}
    async with x402HttpxClient(payer, timeout=TIMEOUT_SECONDS) as client:
        response = await client.post(url, headers=headers, json=body)
    # The call continues. The same payment is taken once, and gets its outcome. A new call would be paid again.
    async with httpx.AsyncClient(timeout=TIMEOUT_SECONDS) as client:
        while response.status_code == 202:
            await asyncio.sleep(float(response.headers.get("retry-after", 1)))
            paid = {**headers, "payment-signature": encode_payment_signature_header(payments[-1])}
            response = await client.post(url, headers=paid, json=body)
    if not response.is_success:
        error = response.json()["error"]
        raise SystemExit(f"{error['code']}: {error['message']}")
    return response.json()["result"]


if __name__ == "__main__":
    print(asyncio.run(buy(sys.argv[1], sys.argv[2], json.loads(sys.argv[3] if len(sys.argv) > 3 else "{}"))))

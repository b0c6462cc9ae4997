"""Pays calls with the published packages x402 and mcp. Reads a list of calls as JSON and prints their answers as JSON.

Arguments: keypair file, URL of a Solana node. A call is {"url", "headers", "body"}, or {"mcp", "tool", "arguments"}.
"""

import asyncio
import json
import sys
from types import SimpleNamespace

from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from solders.keypair import Keypair
from x402 import x402Client, x402ClientConfig
from x402.client_base import SchemeRegistration
from x402.http import decode_payment_response_header
from x402.http.clients import x402HttpxClient
from x402.mcp import x402MCPClient
from x402.mechanisms.svm import KeypairSigner
from x402.mechanisms.svm.exact import ExactSvmScheme


async def by_http(payer: x402Client, call: dict) -> dict:
    async with x402HttpxClient(payer, timeout=120) as client:
        answer = await client.post(call["url"], headers=call.get("headers", {}), json=call["body"])
    receipt = answer.headers.get("payment-response")
    return {
        "status": answer.status_code,
        "body": answer.json(),
        "receipt": receipt and decode_payment_response_header(receipt).model_dump(by_alias=True),
    }


async def by_mcp(payer: x402Client, call: dict) -> dict:
    async with Client(streamable_http_client(call["mcp"])) as client:

        async def call_tool(params: dict, **options: object) -> object:
            seconds = options["read_timeout_seconds"].total_seconds()
            answer = await client.call_tool(
                params["name"], params["arguments"], meta=params.get("_meta"), read_timeout_seconds=seconds
            )
            # The package expects results in the format of version 1 of mcp.
            shown = answer.model_dump(by_alias=True)
            return SimpleNamespace(**shown)

        paying = x402MCPClient(SimpleNamespace(call_tool=call_tool), payer)
        answer = await paying.call_tool(call["tool"], call["arguments"])
    receipt = answer.payment_response
    return {
        "error": answer.is_error,
        "content": [part["text"] for part in answer.content],
        "receipt": receipt and receipt.model_dump(by_alias=True),
    }


async def main(keypair: str, rpc_url: str) -> None:
    with open(keypair) as file:
        wallet = Keypair.from_bytes(bytes(json.load(file)))
    scheme = ExactSvmScheme(KeypairSigner(wallet), rpc_url)
    payer = x402Client.from_config(
        # The test uses another USDC mint than the cluster.
        x402ClientConfig(schemes=[SchemeRegistration("solana:*", scheme)], spend_controls={"allowed_assets": True})
    )
    answers = []
    for call in json.load(sys.stdin):
        answers.append(await (by_mcp if "mcp" in call else by_http)(payer, call))
    print(json.dumps(answers))


asyncio.run(main(*sys.argv[1:]))

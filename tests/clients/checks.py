"""Checks receipts with the Python package. Prints the checks of each question of a list.

A question is {receipt, rpc_url}, {execution_id, rpc_url}, or {receipt, asked}: a marketplace that sends this receipt
for the execution `asked`.
"""

import asyncio
import json
import sys
from dataclasses import asdict
from typing import Any

import httpx

from agent_marketplace import Client
from agent_marketplace.receipts import averify_receipt, verify_execution, verify_receipt


def checks_of(question: dict[str, Any]) -> list[dict[str, Any]]:
    if "asked" in question:
        sending = httpx.MockTransport(lambda _: httpx.Response(200, json=question["receipt"]))
        with Client("http://m.example", transport=sending) as client:
            found = client.executions.verify(question["asked"], rpc_url=None)
            assert not found.ok
    elif "execution_id" in question:
        found = verify_execution(question["execution_id"], rpc_url=question["rpc_url"])
    else:
        text = json.dumps(question["receipt"])
        found = verify_receipt(text, rpc_url=question["rpc_url"])
        again = asyncio.run(averify_receipt(text.encode(), rpc_url=question["rpc_url"]))
        assert again == found, "the asynchronous check says something else"
    return [asdict(check) for check in found.checks]


json.dump([checks_of(question) for question in json.load(sys.stdin)], sys.stdout)

"""Checks receipts with the Python package. Reads a list of {receipt | execution_id, rpc_url}, prints their checks."""

import asyncio
import json
import sys
from dataclasses import asdict
from typing import Any

from agent_marketplace.receipts import averify_receipt, verify_execution, verify_receipt


def checks_of(question: dict[str, Any]) -> list[dict[str, Any]]:
    if "execution_id" in question:
        found = verify_execution(question["execution_id"], rpc_url=question["rpc_url"])
    else:
        text = json.dumps(question["receipt"])
        found = verify_receipt(text, rpc_url=question["rpc_url"])
        again = asyncio.run(averify_receipt(text.encode(), rpc_url=question["rpc_url"]))
        assert again == found, "the asynchronous check says something else"
    return [asdict(check) for check in found.checks]


json.dump([checks_of(question) for question in json.load(sys.stdin)], sys.stdout)

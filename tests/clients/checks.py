"""Checks receipts with the Python package. Prints the checks of each question of a list.

A question is {receipt, rpc_url}, or {receipt, asked, archive, rpc_url}: a marketplace that sends this receipt and this
proof for the execution `asked`.
"""

import asyncio
import json
import sys
from dataclasses import asdict
from typing import Any

import httpx

from paid_agents import Client
from paid_agents.receipts import averify_receipt, verify_receipt


class Marketplace(httpx.BaseTransport):
    """Sends the receipt and the proof of a question; forwards what is for the node."""

    def __init__(self, question: dict[str, Any]) -> None:
        self._question = question
        self._node = httpx.HTTPTransport()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if request.url.host != "m.example":
            return self._node.handle_request(request)
        name = "archive" if request.url.path.endswith("/archive") else "receipt"
        return httpx.Response(200, json=self._question[name])


def checks_of(question: dict[str, Any]) -> list[dict[str, Any]]:
    if "asked" in question:
        with Client("http://m.example", transport=Marketplace(question)) as client:
            found = client.executions.verify(question["asked"], rpc_url=question["rpc_url"])
    else:
        found = verify_receipt(json.dumps(question["receipt"]), rpc_url=question["rpc_url"])
    return [asdict(check) for check in found.checks]


questions = json.load(sys.stdin)
answers = [checks_of(question) for question in questions]
if "asked" not in questions[0]:
    receipt, rpc_url = json.dumps(questions[0]["receipt"]).encode(), questions[0]["rpc_url"]
    again = asyncio.run(averify_receipt(receipt, rpc_url=rpc_url))
    assert [asdict(check) for check in again.checks] == answers[0], "the asynchronous check says something else"
json.dump(answers, sys.stdout)

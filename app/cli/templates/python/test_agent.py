"""Tests the work and its server: answers are signed, a repeat gets the same answer, unsigned calls are refused."""

import asyncio
import hashlib
import json
from pathlib import Path

import base58
import httpx
import pytest
from agent import execute
from nacl.signing import VerifyKey
from paid_agents.creator import CreatorApp, generate_signing_key, signing_key_address

TEST = json.loads(Path(__file__).with_name("agent.json").read_text("utf-8-sig"))["test"]
REQUEST = {
    "execution_id": "00000000-0000-8000-8000-000000000001",
    "task": TEST["task"],
    "parameters": TEST["parameters"],
    "user_pubkey": "11111111111111111111111111111111",
    "timeout_seconds": 30,
}


async def post(app: CreatorApp, *requests: dict) -> list[httpx.Response]:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://agent") as client:
        return [await client.post("/execute", json=request) for request in requests]


def test_answers_the_test_of_the_listing_with_a_signed_result() -> None:
    key = generate_signing_key()
    first, repeat = asyncio.run(post(CreatorApp(execute, signing_key=key), REQUEST, REQUEST))
    answer = first.json()
    assert json.loads(answer["result"]) == {"words": [{"word": "the", "count": 2}]}
    assert answer["result_hash"] == "sha256:" + hashlib.sha256(answer["result"].encode()).hexdigest()
    signature = base58.b58decode(answer["signature"].removeprefix("ed25519:"))
    VerifyKey(base58.b58decode(signing_key_address(key))).verify(answer["result_hash"].encode(), signature)
    assert repeat.content == first.content


def test_counts_the_words_of_every_script() -> None:
    text = {"text": "Caf\u00e9, cafe\u0301 हिन्दी"}
    [response] = asyncio.run(
        post(CreatorApp(execute, signing_key=generate_signing_key()), {**REQUEST, "parameters": text})
    )
    words = json.loads(response.json()["result"])["words"]
    assert words == [{"word": "café", "count": 2}, {"word": "हिन्दी", "count": 1}]


@pytest.mark.parametrize("text", ["", "...", "_ _"])
def test_fails_for_a_text_without_words(text: str) -> None:
    request = {**REQUEST, "parameters": {"text": text}}
    [response] = asyncio.run(post(CreatorApp(execute, signing_key=generate_signing_key()), request))
    assert response.json()["status"] == "failed"
    assert response.json()["error"] == "the text has no words"


def test_refuses_calls_without_the_signature_of_the_marketplace() -> None:
    app = CreatorApp(execute, signing_key=generate_signing_key(), marketplace_url="http://127.0.0.1:1")
    [response] = asyncio.run(post(app, REQUEST))
    assert response.status_code == 401

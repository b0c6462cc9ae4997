"""Makes the calls of a table of behaviours with the Python client, and prints what came of each as JSON.

    python behaviours.py sync|async < TABLE

Each entry of the table on stdin has `base_url`, `api_key`, `client`, `call` (with agent and task).
"""

import asyncio
import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from pydantic import BaseModel

from agent_marketplace import AsyncClient, Client, MarketplaceError, StartedExecution

ARGUMENTS = ("task", "parameters", "max_cost_usdc", "timeout", "timeout_seconds", "idempotency_key")


def options_of(entry: dict[str, Any]) -> dict[str, Any]:
    return {"base_url": entry["base_url"], "api_key": entry["api_key"], "timeout": 30, **entry.get("client", {})}


def arguments_of(call: dict[str, Any]) -> dict[str, Any]:
    return {name: call[name] for name in ARGUMENTS if name in call}


def shown(result: BaseModel | int) -> dict[str, Any]:
    return {"count": result} if isinstance(result, int) else {"result": result.model_dump(mode="json")}


def refused(error: MarketplaceError) -> dict[str, Any]:
    details = getattr(error, "details", None)
    return {
        "error": {
            "class": type(error).__name__,
            "code": error.code,
            "message": error.message,
            "status": getattr(error, "status", None),
            "details": details.model_dump(mode="json", by_alias=True) if isinstance(details, BaseModel) else details,
            "execution_id": error.execution_id,
            "idempotency_key": error.idempotency_key,
            "retry_after_seconds": getattr(error, "retry_after_seconds", None),
        }
    }


def make(client: Client, call: dict[str, Any], deltas: list[str]) -> BaseModel | int:
    match call["method"]:
        case "agents.run":
            on_delta = deltas.append if call.get("deltas") else None
            return client.agents.run(call["agent"], **arguments_of(call), on_delta=on_delta)
        case "agents.retrieve":
            return client.agents.retrieve(call["agent"])
        case "agents.list":
            return len(list(client.agents.list(limit=call["limit"])))
        case "executions.create":
            return client.executions.create(call["agent"], **arguments_of(call))
        case "executions.wait":
            started = client.executions.create(call["agent"], **arguments_of(call))
            assert isinstance(started, StartedExecution)
            return client.executions.wait(started.execution_id)
        case "executions.retrieve":
            return client.executions.retrieve(call["execution"])
        case method:
            raise ValueError(f"the table has a method that this program does not know: {method}")


async def make_async(client: AsyncClient, call: dict[str, Any], deltas: list[str]) -> BaseModel | int:
    match call["method"]:
        case "agents.run":
            on_delta = deltas.append if call.get("deltas") else None
            return await client.agents.run(call["agent"], **arguments_of(call), on_delta=on_delta)
        case "agents.retrieve":
            return await client.agents.retrieve(call["agent"])
        case "agents.list":
            return len([agent async for agent in client.agents.list(limit=call["limit"])])
        case "executions.create":
            return await client.executions.create(call["agent"], **arguments_of(call))
        case "executions.wait":
            started = await client.executions.create(call["agent"], **arguments_of(call))
            assert isinstance(started, StartedExecution)
            return await client.executions.wait(started.execution_id)
        case "executions.retrieve":
            return await client.executions.retrieve(call["execution"])
        case method:
            raise ValueError(f"the table has a method that this program does not know: {method}")


def outcome(entry: dict[str, Any]) -> dict[str, Any]:
    started = time.monotonic()
    deltas: list[str] = []
    with Client(**options_of(entry)) as client:
        try:
            found = shown(make(client, entry["call"], deltas))
        except MarketplaceError as error:
            found = refused(error)
    return {**found, "deltas": deltas, "ms": (time.monotonic() - started) * 1000}


async def outcome_async(entry: dict[str, Any]) -> dict[str, Any]:
    started = time.monotonic()
    deltas: list[str] = []
    async with AsyncClient(**options_of(entry)) as client:
        try:
            found = shown(await make_async(client, entry["call"], deltas))
        except MarketplaceError as error:
            found = refused(error)
    return {**found, "deltas": deltas, "ms": (time.monotonic() - started) * 1000}


async def all_async(table: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return list(await asyncio.gather(*(outcome_async(entry) for entry in table)))


if __name__ == "__main__":
    entries = json.load(sys.stdin)
    if sys.argv[1] == "async":
        outcomes = asyncio.run(all_async(entries))
    else:
        with ThreadPoolExecutor(len(entries)) as threads:
            outcomes = list(threads.map(outcome, entries))
    json.dump(outcomes, sys.stdout)

"""Makes the calls of a table of behaviours with the Python client, and prints the outcome of each as JSON.

    python behaviours.py sync|async < TABLE

Each entry of the table on stdin has `base_url`, `api_key`, `client`, `call` (with agent and task). An entry with a
`wallet` (`keypair`, `asset`, `rpc_url`) pays by x402. Its outcome includes the checked `quotes`.
"""

import asyncio
import inspect
import json
import sys
import time
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel
from solders.keypair import Keypair

from paid_agents import AsyncClient, Client, ExecutionEvent, MarketplaceError, StartedExecution
from paid_agents.x402 import CheckedQuote, Payment, pay_with_x402

ARGUMENTS = ("task", "parameters", "max_cost_usdc", "timeout", "timeout_seconds", "idempotency_key")


@dataclass
class Told:
    """Output, events and quotes that a call reports before its end."""

    deltas: list[str] = field(default_factory=list[str])
    events: list[ExecutionEvent] = field(default_factory=list[ExecutionEvent])
    quotes: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])


def options_of(entry: dict[str, Any], quotes: list[dict[str, Any]]) -> dict[str, Any]:
    payment = paying(entry["wallet"], quotes) if "wallet" in entry else None
    options = {"base_url": entry["base_url"], "api_key": entry["api_key"], "timeout": 30, "payment": payment}
    return {**options, **entry.get("client", {})}


def paying(wallet: dict[str, str], quotes: list[dict[str, Any]]) -> Payment:
    def note(quote: CheckedQuote) -> None:
        quotes.append(dict(quote.__dict__))

    keypair = Keypair.from_json(wallet["keypair"])
    asset, rpc_url = wallet["asset"], wallet["rpc_url"]
    return pay_with_x402(wallet=keypair, network="devnet", asset=asset, rpc_url=rpc_url, on_quote=note)


def arguments_of(call: dict[str, Any]) -> dict[str, Any]:
    return {name: call[name] for name in ARGUMENTS if name in call}


def shown(result: BaseModel | int) -> dict[str, Any]:
    return {"count": result} if isinstance(result, int) else {"result": result.model_dump(mode="json")}


def refused(error: MarketplaceError | ValueError) -> dict[str, Any]:
    if isinstance(error, ValueError):
        return {"error": {"class": type(error).__name__, "message": str(error), "field": getattr(error, "field", None)}}
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
            "cause": type(error.__cause__).__name__ if error.__cause__ else None,
            "retry_after_seconds": getattr(error, "retry_after_seconds", None),
        }
    }


async def done(value: Any) -> Any:
    """The result of a method of either client, awaited if necessary."""
    return await value if inspect.isawaitable(value) else value


async def items(listing: Any) -> AsyncIterator[Any]:
    if hasattr(listing, "__aiter__"):
        async for item in listing:
            yield item
    else:
        for item in listing:
            yield item


async def make(client: Any, call: dict[str, Any], told: Told) -> BaseModel | int:
    agents, executions = client.agents, client.executions
    match call["method"]:
        case "agents.run":
            on_delta = told.deltas.append if call.get("deltas") else None
            return await done(agents.run(call["agent"], **arguments_of(call), on_delta=on_delta))
        case "agents.retrieve":
            return await done(agents.retrieve(call["agent"]))
        case "agents.list":
            return len([agent async for agent in items(agents.list(limit=call["limit"]))])
        case "executions.create":
            return await done(executions.create(call["agent"], **arguments_of(call)))
        case "executions.wait":
            started = await done(executions.create(call["agent"], **arguments_of(call)))
            assert isinstance(started, StartedExecution)
            return await done(executions.wait(started.execution_id))
        case "executions.retrieve":
            return await done(executions.retrieve(call["execution"]))
        case "executions.events":
            followed = call.get("execution")
            if followed is None:
                followed = (await done(executions.create(call["agent"], **arguments_of(call)))).execution_id
            async for event in items(executions.events(followed)):
                told.events.append(event)
            if "again_after" in call:
                async for event in items(executions.events(followed, after=told.events[call["again_after"]].id)):
                    told.events.append(event)
            return told.events[-1].data
        case method:
            raise ValueError(f"the table has a method that this program does not know: {method}")


async def outcome(kind: type[Client] | type[AsyncClient], entry: dict[str, Any]) -> dict[str, Any]:
    started = time.monotonic()
    told = Told()
    client = kind(**options_of(entry, told.quotes))
    try:
        found = shown(await make(client, entry["call"], told))
    except (MarketplaceError, ValueError) as error:
        found = refused(error)
    finally:
        await done(client.close())
    types = [event.type for event in told.events]
    took = (time.monotonic() - started) * 1000
    return {**found, "deltas": told.deltas, "events": types, "quotes": told.quotes, "ms": took}


async def all_async(table: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return list(await asyncio.gather(*(outcome(AsyncClient, entry) for entry in table)))


def blocking(entry: dict[str, Any]) -> dict[str, Any]:
    """Runs without an event loop: the blocking client waits for nothing."""
    try:
        outcome(Client, entry).send(None)
    except StopIteration as ended:
        return ended.value
    raise AssertionError("the blocking client waits")


if __name__ == "__main__":
    entries = json.load(sys.stdin)
    if sys.argv[1] == "async":
        outcomes = asyncio.run(all_async(entries))
    else:
        with ThreadPoolExecutor(len(entries)) as threads:
            outcomes = list(threads.map(blocking, entries))
    json.dump(outcomes, sys.stdout)

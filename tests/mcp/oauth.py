"""
A host that gets its key by OAuth, FastMCP: prints the address that the person must open, then the answer of one call.
Arguments: url, agent.
"""

import asyncio
import json
import sys
import webbrowser

from fastmcp import Client


def show(address: str) -> bool:
    print(json.dumps({"open": address}), flush=True)
    return True


async def main(url: str, agent: str) -> None:
    webbrowser.open = show
    async with Client(url, auth="oauth") as client:
        answer = await client.call_tool("run_agent", {"agent_id": agent, "task": "by OAuth", "max_cost_usdc": 0.01})
        print(json.dumps(answer.structured_content), flush=True)


asyncio.run(main(*sys.argv[1:3]))

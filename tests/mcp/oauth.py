"""
A host that gets its key by OAuth and has MCP tasks, FastMCP: prints the address that the person must open, then the
answer of one long call. Arguments: url, slow agent, seconds.
"""

import asyncio
import json
import sys
import webbrowser

import fastmcp_tasks  # noqa: F401  (a host without this import has no tasks)
from fastmcp import Client


def show(address: str) -> bool:
    print(json.dumps({"open": address}), flush=True)
    return True


async def main(url: str, slow: str, seconds: int) -> None:
    webbrowser.open = show
    async with Client(url, auth="oauth") as client:
        arguments = {"agent_id": slow, "task": "slow", "parameters": {"seconds": seconds}, "max_cost_usdc": 0.02}
        answer = await client.call_tool("run_agent", arguments)
        print(json.dumps(answer.structured_content), flush=True)


asyncio.run(main(*sys.argv[1:3], int(sys.argv[3])))

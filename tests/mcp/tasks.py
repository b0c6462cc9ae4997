"""A host with MCP tasks, FastMCP: prints the answer of one long call as JSON. Arguments: url, key, slow agent, seconds."""

import asyncio
import json
import sys

import fastmcp_tasks  # noqa: F401  (a host without this import has no tasks)
from fastmcp import Client
from fastmcp.client.auth import BearerAuth


async def main(url: str, key: str, slow: str, seconds: int) -> None:
    async with Client(url, auth=BearerAuth(key)) as client:
        arguments = {"agent_id": slow, "task": "slow", "parameters": {"seconds": seconds}, "max_cost_usdc": 0.02}
        answer = await client.call_tool("run_agent", arguments)
        print(json.dumps(answer.structured_content), flush=True)


asyncio.run(main(*sys.argv[1:4], int(sys.argv[4])))

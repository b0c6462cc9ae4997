"""A host in Python: prints the answer of each tool as a JSON line. Arguments: url, key, agent, slow agent, seconds."""

import asyncio
import json
import sys

from mcp import Client
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client


async def main(url: str, key: str, agent: str, slow: str, seconds: int) -> None:
    http = create_mcp_http_client(headers={"Authorization": f"Bearer {key}"})
    async with http, Client(streamable_http_client(url, http_client=http)) as client:

        async def call(name: str, **arguments: object) -> dict:
            # The client checks structured output against the tool's schema.
            answer = await client.call_tool(name, arguments, read_timeout_seconds=60)
            text = answer.content[0].text
            value = {"error": text} if answer.is_error else answer.structured_content
            print(json.dumps({"tool": name, "value": value}), flush=True)
            return value

        tools = await client.list_tools()
        print(json.dumps({"tool": "", "value": [tool.name for tool in tools.tools]}), flush=True)
        await call("search_agents", query="echo")
        ran = await call("run_agent", agent_id=agent, task="Hello from Python", max_cost_usdc=0.01)
        await call("verify_execution", execution_id=ran["execution_id"])
        await call("run_agent", agent_id=agent, task="too dear", max_cost_usdc=0.001)
        long = await call(
            "run_agent", agent_id=slow, task="slow", parameters={"seconds": seconds}, max_cost_usdc=0.02
        )
        ended = long
        while ended["status"] == "running":
            ended = await call("wait_for_execution", execution_id=long["execution_id"], seconds=25)


asyncio.run(main(*sys.argv[1:5], int(sys.argv[5])))

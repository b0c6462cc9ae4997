"""Makes a call with the client that openapi-python-client generates from the served document."""

import json
import re
import sys

import httpx

from agent_marketplace_client import AuthenticatedClient
from agent_marketplace_client.api.agents import get_agent
from agent_marketplace_client.api.executions import execute_agent, get_execution
from agent_marketplace_client.api.service import get_config
from agent_marketplace_client.models import (
    AgentFull,
    ConfigAnswer,
    ErrorInvalidRequest,
    ExecuteBody,
    ExecuteBodyParameters,
    ExecuteCompleted,
    ExecutionFull,
)

base_url, api_key, agent_id, document = sys.argv[1:5]
client = AuthenticatedClient(base_url=base_url, token=api_key, timeout=httpx.Timeout(60))

terms = get_config.sync(client=client)
assert isinstance(terms, ConfigAnswer), terms
listing = get_agent.sync(agent_id, client=client)
assert isinstance(listing, AgentFull), listing

parameters = ExecuteBodyParameters.from_dict(
    {"csv": "city,people\nLagos,15\nOslo,1\n", "query": "SELECT city FROM csv ORDER BY people DESC LIMIT 1"}
)
executed = execute_agent.sync(
    agent_id, client=client, body=ExecuteBody(task="Which city is the largest?", parameters=parameters)
)
assert isinstance(executed, ExecuteCompleted), executed

record = get_execution.sync(executed.execution_id, client=client)
assert isinstance(record, ExecutionFull), record

refused = execute_agent.sync(agent_id, client=client, body=ExecuteBody(task=""))
assert isinstance(refused, ErrorInvalidRequest), refused
details = refused.error.details

# Python's regular expressions accept every pattern.
with open(document, encoding="utf-8") as file:
    patterns = re.findall(r'"pattern":("(?:[^"\\]|\\.)*")', file.read())
for pattern in patterns:
    re.compile(json.loads(pattern))

print(
    json.dumps(
        {
            "environment": terms.result.data.environment,
            "timeout_seconds": listing.timeout_seconds,
            "result": executed.result,
            "cost_usdc": executed.cost_usdc,
            "record": {"status": record.status, "result": record.result},
            "refused": {"code": refused.error.code, "path": details.issues[0].path},
        }
    )
)

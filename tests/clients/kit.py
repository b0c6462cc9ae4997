"""A creator on uvicorn for tests of the kit. It behaves as the task says. Prints its port.

python kit.py SIGNING_KEY_FILE DIRECTORY_URL PROGRAM_ID
"""

import asyncio
import socket
import sys
from collections import Counter

import uvicorn

from paid_agents.creator import (
    CreatorApp,
    ExecutionFailure,
    ExecutionOutput,
    ExecutionRequest,
    Limits,
    load_signing_key,
)

runs: Counter[str] = Counter()


async def execute(request: ExecutionRequest) -> ExecutionOutput:
    runs[request.execution_id] += 1
    if request.task == "fails":
        raise ExecutionFailure("no luck")
    if request.task == "crashes":
        raise RuntimeError("a secret of the creator")
    if request.task == "times out":
        await asyncio.wait_for(asyncio.sleep(3_600), 0.01)
    if request.task == "hangs":
        await asyncio.sleep(3_600)
    if request.task == "is slow":
        await asyncio.sleep(0.5)
    if request.task == "streams":
        for text in ("Once ", "up\nön", "\u2028"):
            request.delta(text)
            await asyncio.sleep(0)
    if request.task == "surrogates":
        return ExecutionOutput("a\ud800b", steps=["cut \ud83c", {"a": ["\udf0d"]}])
    if request.task == "fails in half":
        raise ExecutionFailure("cut \ud83c")
    if request.task == "too long":
        return ExecutionOutput("x" * 20_000)
    count = runs[request.execution_id]
    return ExecutionOutput(f"{request.task}: {request.purpose}, run {count}, ü", tokens_used=7, steps=["one", {"a": 1}])


if __name__ == "__main__":
    key_file, marketplace, program_id = sys.argv[1:]
    app = CreatorApp(
        execute,
        signing_key=load_signing_key(key_file),
        marketplace_url=marketplace,
        program_id=program_id,
        limits=Limits(max_body_bytes=100_000, max_answer_bytes=10_000),
    )
    server = socket.socket()
    server.bind(("127.0.0.1", 0))
    server.listen(100)
    print(server.getsockname()[1], flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="critical")).run([server])

"""A paid call as a flow, from its request to its end."""

import uuid
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

from . import _bought
from ._answers import read, read_json, retry_after
from ._calls import Call, Purchase, Service, ask, get, is_early_refusal, look_pause, path_of, running_error
from ._flow import Answer, Deadline, Flow, OnDelta, sleep
from ._model import ErrorBody
from .errors import MarketplaceError, WaitTimeoutError, status_error
from .models import CompletedExecution, Execution, ExecutionPage, StartedExecution
from .money import json_usdc

FIND_SECONDS = 5.0
"""Longest search for the id of a call whose time is over."""


def execute_call(
    agent_id: str,
    task: str,
    parameters: Mapping[str, Any] | None,
    max_cost_usdc: Decimal | str | int | None,
    timeout_seconds: int | None,
    idempotency_key: str | None,
    *,
    is_async: bool,
    on_delta: OnDelta | None = None,
) -> Call:
    """POST /v1/agents/{agent_id}/execute. Creates an idempotency key if none is given, so that retries are safe."""
    body: dict[str, Any] = {"task": task}
    if parameters is not None:
        body["parameters"] = parameters
    if is_async:
        body["async"] = True
    if on_delta is not None:
        body["stream"] = True
    if timeout_seconds is not None:
        body["timeout_seconds"] = timeout_seconds
    purchase = None
    if max_cost_usdc is not None:
        body["max_cost_usdc"] = json_usdc(max_cost_usdc)
        purchase = Purchase(agent_id, task, parameters, max_cost_usdc, timeout_seconds)
    path = path_of("v1", "agents", agent_id, "execute")
    # An empty key is refused by the marketplace: a random one in its place would pay again with every retry.
    key = str(uuid.uuid4()) if idempotency_key is None else idempotency_key
    return Call("POST", path, body, key, is_paid=True, on_delta=on_delta, purchase=purchase)


def start_call(
    execution_id: str, task: str, parameters: Mapping[str, Any] | None, wallet_signature: str | None, *, is_async: bool
) -> Call:
    """POST /v1/executions/{execution_id}/start. The id alone makes retries safe."""
    body: dict[str, Any] = {"task": task, "parameters": parameters or {}, "async": is_async}
    if wallet_signature is not None:
        body["wallet_signature"] = wallet_signature
    return Call("POST", path_of("v1", "executions", execution_id, "start"), body, is_paid=True)


def create(service: Service, call: Call) -> Flow[StartedExecution | CompletedExecution]:
    """Returns once the execution has started. A repeat of a call that has ended returns its result."""
    with _key_of(call):
        answer = yield from ask(service, call)
        return _outcome(service, answer)


def run(service: Service, call: Call, timeout: float | None) -> Flow[CompletedExecution]:
    """Returns the result. Raises the error of a failed execution, or WaitTimeoutError."""
    deadline = Deadline(timeout)
    with _key_of(call):
        if service.payment is not None:
            return (yield from _bought.buy(service, call, service.payment, deadline))
        try:
            answer = yield from ask(service, call, deadline)
        except WaitTimeoutError as error:
            error.execution_id = error.execution_id or (yield from _find(service, call))
            raise
        outcome = _outcome(service, answer)
        if isinstance(outcome, CompletedExecution):
            return outcome
        try:
            ended = yield from wait(service, outcome.execution_id, deadline, retry_after(answer))
        except MarketplaceError as error:
            if not is_early_refusal(error):
                raise
            raise running_error(outcome.execution_id, error) from error
        return completed(ended)


def _find(service: Service, call: Call) -> Flow[str | None]:
    """The id of the execution of a call by its key; None if there is none, or no answer in time."""
    path = path_of("v1", "executions", query={"idempotency_key": call.idempotency_key, "limit": 1})
    try:
        page = yield from get(service, ExecutionPage, path, Deadline(FIND_SECONDS))
    except MarketplaceError:
        return None
    return page.executions[0].execution_id if page.executions else None


@contextmanager
def _key_of(call: Call) -> Generator[None, None, None]:
    """Adds the call's idempotency key to every error, so that a retry never pays twice."""
    try:
        yield
    except MarketplaceError as error:
        error.idempotency_key = call.idempotency_key
        raise


def wait(service: Service, execution_id: str, deadline: Deadline, first_pause: float | None = None) -> Flow[Execution]:
    """The record of the execution once it has ended, also if it failed. Raises WaitTimeoutError."""
    pause = first_pause or 0.0
    looks = 0
    while True:
        if pause >= deadline.left():
            message = f"the execution {execution_id} is still running after the timeout; wait for it again"
            raise WaitTimeoutError(message, execution_id=execution_id)
        if pause > 0:
            yield from sleep(pause)
        try:
            execution = yield from get(service, Execution, path_of("v1", "executions", execution_id), deadline)
        except MarketplaceError as error:
            error.execution_id = execution_id
            raise
        if execution.is_ended:
            return execution
        pause = look_pause(looks)
        looks += 1


def completed(execution: Execution) -> CompletedExecution:
    """An ended execution as `run` returns it. Raises its error if it failed."""
    if execution.error is not None:
        body = ErrorBody(
            code=execution.error.code, message=execution.error.message, execution_id=execution.execution_id
        )
        raise status_error(body, status=None)
    if execution.result is None or execution.result_hash is None:
        message = "the execution was completed and paid, but the service no longer has its result"
        body = ErrorBody(code="result_unavailable", message=message, execution_id=execution.execution_id)
        raise status_error(body, status=None)
    return CompletedExecution(
        execution_id=execution.execution_id,
        status="completed",
        result=execution.result,
        result_hash=execution.result_hash,
        cost_usdc=execution.cost_usdc,
        tokens_used=execution.tokens_used,
        execution_time_ms=execution.execution_time_ms,
        on_chain_record=execution.on_chain_record,
        ipfs_url=execution.ipfs_url,
    )


def _outcome(service: Service, answer: Answer) -> StartedExecution | CompletedExecution:
    try:
        body = read_json(answer.body)
    except ValueError:
        body = None
    if isinstance(body, dict) and body.get("status") == "completed":
        return read(CompletedExecution, answer, service.base_url)
    return read(StartedExecution, answer, service.base_url)

"""A call that a wallet pays by x402: gets a quote, pays it, and sends the payment again until the result is there."""

from dataclasses import replace

from ._answers import error_of, read, retry_after
from ._calls import Call, Payment, Service, ask, is_early_refusal, late_error, path_of, running_error
from ._flow import Deadline, Flow, block, sleep
from .errors import MarketplaceError
from .models import CompletedExecution, StartedExecution

PAUSE = 1.0
"""Seconds between two polls of a running call, if the marketplace asks for no pause."""


def buy(service: Service, call: Call, payment: Payment, deadline: Deadline) -> Flow[CompletedExecution]:
    """Returns the result. Raises the error of a failed call, and the errors of `payment` about a quote."""
    purchase = call.purchase
    if purchase is None:
        raise ValueError("max_cost_usdc is required: without an API key, nothing else limits what the wallet pays")
    path = path_of("v1", "x402", "agents", purchase.agent_id, "execute", query={"payer": payment.payer})
    call = replace(call, path=path)
    execution_id: str | None = None
    quoted = yield from ask(service, replace(call, accepts=402), deadline)
    required = quoted.headers.get("payment-required")
    if required is None:
        raise error_of(quoted, service.base_url)
    signature = yield from block(payment.check(required, purchase))
    paid = replace(call, headers={"payment-signature": signature})
    while True:
        # The same payment never pays twice, so sending it again polls for the result.
        try:
            answer = yield from ask(service, paid, deadline)
        except MarketplaceError as error:
            if execution_id is None or not is_early_refusal(error):
                error.execution_id = error.execution_id or execution_id
                raise
            raise running_error(execution_id, error) from error
        if answer.status != 202:
            return read(CompletedExecution, answer, service.base_url)
        execution_id = read(StartedExecution, answer, service.base_url).execution_id
        pause = retry_after(answer) or PAUSE
        if pause >= deadline.left():
            raise late_error(execution_id)
        yield from sleep(pause)

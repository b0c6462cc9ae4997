"""The API's requests as flows: how they are sent and retried."""

import logging
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Protocol
from urllib.parse import quote, urlencode

import httpx

from ._answers import M, error_of, read, redirected, write_json
from ._flow import (
    Answer,
    Deadline,
    Flow,
    NoAnswerError,
    NoAnswerInTimeError,
    OnDelta,
    OnExecution,
    Send,
    send,
    sleep,
)
from ._model import ErrorBody
from ._secrets import bare_key, checked_header, without_secrets
from .errors import (
    APIConnectionError,
    APIStatusError,
    APITimeoutError,
    MarketplaceError,
    UnexpectedAnswerError,
    WaitTimeoutError,
    status_error,
)

log = logging.getLogger("paid_agents")

FIRST_PAUSE = 0.25
LONGEST_PAUSE = 8.0
FIRST_LOOK = 0.25
LONGEST_LOOK = 5.0
REDIRECTS = (301, 302, 303, 307, 308)
LONGEST_RETRY_AFTER = 60.0
"""If the service asks for a longer pause, the caller gets its error instead."""


@dataclass(frozen=True)
class Purchase:
    """The paid call that a quote must match."""

    agent_id: str
    task: str
    parameters: Mapping[str, Any] | None
    max_cost_usdc: Decimal | str | int
    timeout_seconds: int | None


class Payment(Protocol):
    """Pays calls by x402."""

    @property
    def payer(self) -> str:
        """The wallet that pays."""
        ...

    def check(self, required: str, purchase: Purchase) -> Callable[[], str]:
        """Checks the header PAYMENT-REQUIRED. Returns a function that makes the header PAYMENT-SIGNATURE."""
        ...


@dataclass(frozen=True)
class Service:
    """The marketplace and how to talk to it."""

    base_url: str
    api_key: str | None = field(repr=False)
    timeout: float
    max_retries: int
    user_agent: str
    payment: Payment | None = None
    """Pays for each run, in place of the API key."""


@dataclass(frozen=True)
class Call:
    """One request of the API, which may be sent several times."""

    method: str
    path: str
    body: Mapping[str, Any] | None = None
    idempotency_key: str | None = None
    repeatable: bool = True
    """False if a retry could do something twice."""
    is_paid: bool = False
    """It may pay, so an attempt with an unknown outcome is not hidden by a later refusal."""
    on_delta: OnDelta | None = None
    """Receives the output of a streamed answer."""
    purchase: Purchase | None = None
    """The purchase, if its cost is limited."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """More headers."""
    accepts: int | None = None
    """One more status that is a good answer."""
    keeps_open: bool = False
    """Leaves a streamed answer open."""


def path_of(*parts: str, query: Mapping[str, Any] | None = None) -> str:
    """A path of encoded parts, with the filters that are not None."""
    path = "/" + "/".join(quote(part, safe="") for part in parts)
    given = {name: _text(value) for name, value in (query or {}).items() if value is not None}
    return f"{path}?{urlencode(given)}" if given else path


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def request_of(service: Service, call: Call, deadline: Deadline, on_execution: OnExecution | None = None) -> Send:
    accept = "application/json" if call.on_delta is None else "text/event-stream, application/json"
    headers = {"accept": accept, "user-agent": service.user_agent, **call.headers}
    if service.api_key:
        headers["authorization"] = f"Bearer {service.api_key}"
    if call.idempotency_key is not None:
        headers["idempotency-key"] = call.idempotency_key
    for name, value in headers.items():
        checked_header(name, value)
    body = None
    if call.body is not None:
        headers["content-type"] = "application/json"
        body = write_json(call.body)
    timeout = min(service.timeout, deadline.left())
    url = service.base_url + call.path
    return Send(call.method, url, headers, body, timeout, call.on_delta, on_execution, deadline.end, call.keeps_open)


def ask(service: Service, call: Call, deadline: Deadline | None = None) -> Flow[Answer]:
    """Sends the call until it has a final answer, and returns a good one. Raises MarketplaceError.

    A retry never pays twice, because it has the same idempotency key. While the first request still runs, the call is
    retried until the deadline. An error that ended the execution is final. If a paid call is refused after an attempt
    with an unknown outcome, the error is that of the attempt, with the refusal as its cause. Every error has the id of
    the call's execution, if an answer or a stream has named it.
    """
    named: list[str] = []
    try:
        return (yield from _ask(service, call, deadline, named.append))
    except MarketplaceError as error:
        if error.execution_id is None and named:
            error.execution_id = named[-1]
        raise


def _ask(service: Service, call: Call, deadline: Deadline | None, on_execution: OnExecution) -> Flow[Answer]:
    deadline = deadline or Deadline(None)
    count = looks = 0
    unknown: MarketplaceError | None = None
    while True:
        failure: MarketplaceError
        if deadline.left() <= 0:
            raise late_error()
        try:
            answer = yield from send(request_of(service, call, deadline, on_execution))
        except NoAnswerInTimeError as error:
            if deadline.left() <= 0:
                raise late_error() from error
            failure = APITimeoutError(f"no answer from {service.base_url} within {service.timeout} s")
        except NoAnswerError as error:
            failure = APIConnectionError(f"no answer from {service.base_url}: {error}")
        else:
            if answer.status == call.accepts or (200 <= answer.status < 300 and not answer.is_error):
                return answer
            is_redirect = answer.status in REDIRECTS
            failure = (
                redirected(answer, service.base_url, call.path) if is_redirect else error_of(answer, service.base_url)
            )
            if failure.execution_id is not None:
                on_execution(failure.execution_id)
        is_running = failure.code == "request_in_progress"
        asked = failure.retry_after_seconds if isinstance(failure, APIStatusError) else None
        pause = max(asked or 0.0, look_pause(looks) if is_running else pause_before(count))
        may = call.repeatable and (is_running or (count < service.max_retries and _is_transient(failure)))
        if call.is_paid and (failure.execution_id is not None or not is_early_refusal(failure)):
            unknown = failure
        is_late = pause >= deadline.left()
        if is_late and is_running:
            raise late_error()
        if is_late or not may or pause > LONGEST_RETRY_AFTER:
            if unknown is None or unknown is failure:
                raise failure
            raise unknown from failure
        if is_running:
            looks += 1
        else:
            count += 1
        log.debug("%s %s: retry in %.2f s, because of %s", call.method, call.path.split("?")[0], pause, failure.code)
        yield from sleep(pause)


def look_pause(looks: int) -> float:
    """Seconds between two polls of a running execution. Each pause is 1.5 times the last one."""
    return float(min(FIRST_LOOK * 1.5 ** min(looks, 20), LONGEST_LOOK))


def pause_before(count: int) -> float:
    """Seconds before a retry; doubles each time. A random part keeps clients from retrying all at once."""
    return float(min(FIRST_PAUSE * 2**count, LONGEST_PAUSE)) * random.uniform(0.75, 1.25)


def late_error(execution_id: str | None = None) -> WaitTimeoutError:
    message = "the timeout passed before the outcome was known; wait again, or retry the call with its idempotency key"
    return WaitTimeoutError(message, execution_id=execution_id)


def is_early_refusal(error: MarketplaceError) -> bool:
    """True for a refusal that the marketplace makes before it looks for an earlier request with the same key."""
    return isinstance(error, APIStatusError) and error.status in (401, 403, 429)


def running_error(execution_id: str, refusal: MarketplaceError) -> MarketplaceError:
    """The execution continues, although the request for its outcome was refused."""
    message = f"the execution {execution_id} is in progress, and the request for its outcome was refused: {refusal}"
    body = ErrorBody(code="request_in_progress", message=message, execution_id=execution_id)
    return status_error(body, status=None)


def _is_transient(error: MarketplaceError) -> bool:
    """True if a retry may get another answer."""
    if isinstance(error, APIConnectionError):
        return True
    if isinstance(error, UnexpectedAnswerError):
        return error.status in (502, 503, 504)  # A load balancer's status says nothing about the request behind it.
    codes = ("service_unavailable", "metadata_missing", "rate_limited", "internal_error")
    return error.code in codes and error.execution_id is None


def get(service: Service, model: type[M], path: str, deadline: Deadline | None = None) -> Flow[M]:
    """Sends a read."""
    answer = yield from ask(service, Call("GET", path), deadline)
    return read(model, answer, service.base_url)


def checked_url(url: str) -> str:
    """The base URL without a trailing slash. Raises ValueError unless it is http or https with a host."""
    url = bare_key(url)
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL:
        parsed = httpx.URL()
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise ValueError(f"base_url must be a URL such as https://marketplace.example, not {without_secrets(url)!r}")
    if re.search(r"[?#\s]", url) or without_secrets(url) != url:  # Messages and logs name the address.
        raise ValueError("base_url must have no user name, password, query, fragment, space or key")
    return url.rstrip("/")

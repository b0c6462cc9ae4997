"""Each method of the clients as a flow or a call. Both clients share everything except how they wait."""

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from typing import Any, TypeVar

from . import models
from ._answers import M, read
from ._calls import Call, Payment, Service, ask, checked_url, get, path_of
from ._flow import Flow
from ._secrets import checked_api_key
from ._version import USER_AGENT, __version__

DEFAULT_TIMEOUT = 60.0
DEFAULT_MAX_RETRIES = 2
RUN_TIMEOUT = 600.0
"""Default wait of `run` and `wait`, seconds."""
PAGE = 100

Item = TypeVar("Item")
FetchPage = Callable[[int], Flow[tuple[list[Item], int]]]
"""Reads the page that begins at this offset. Returns its items and the total number."""


def service_of(
    base_url: str | None,
    api_key: str | None,
    timeout: float,
    max_retries: int,
    user_agent: str | None,
    payment: Payment | None,
) -> Service:
    """The options of a client. Missing ones come from MARKETPLACE_URL and MARKETPLACE_API_KEY."""
    url = base_url or os.environ.get("MARKETPLACE_URL")
    if not url:
        raise ValueError("give base_url, or set MARKETPLACE_URL")
    key = checked_api_key(api_key or os.environ.get("MARKETPLACE_API_KEY"))
    agent = f"{user_agent} agent-marketplace-python/{__version__}" if user_agent else USER_AGENT
    return Service(checked_url(url), key, timeout, max_retries, agent, payment)


def agent_pages(service: Service, filters: Mapping[str, Any]) -> FetchPage[models.AgentSummary]:
    def fetch(offset: int) -> Flow[tuple[list[models.AgentSummary], int]]:
        path = path_of("v1", "agents", query={**filters, "offset": offset})
        page = yield from get(service, models.AgentPage, path)
        return page.agents, page.total

    return fetch


def execution_pages(service: Service, filters: Mapping[str, Any]) -> FetchPage[models.ExecutionSummary]:
    def fetch(offset: int) -> Flow[tuple[list[models.ExecutionSummary], int]]:
        path = path_of("v1", "executions", query={**filters, "offset": offset})
        page = yield from get(service, models.ExecutionPage, path)
        return page.executions, page.total

    return fetch


def agent(service: Service, agent_id: str) -> Flow[models.Agent]:
    return get(service, models.Agent, path_of("v1", "agents", agent_id))


def agent_statistics(service: Service, agent_id: str) -> Flow[models.AgentStatistics]:
    return get(service, models.AgentStatistics, path_of("v1", "agents", agent_id, "statistics"))


def execution(service: Service, execution_id: str) -> Flow[models.Execution]:
    return get(service, models.Execution, path_of("v1", "executions", execution_id))


def archive(service: Service, execution_id: str) -> Flow[models.Archive]:
    return get(service, models.Archive, path_of("v1", "executions", execution_id, "archive"))


def delete_content(service: Service, execution_id: str) -> Flow[models.DeletedContent]:
    return _change(service, models.DeletedContent, "DELETE", path_of("v1", "executions", execution_id, "content"))


def daily(service: Service, role: str | None, start: date | None, end: date | None) -> Flow[models.DailyStatement]:
    path = path_of("v1", "statements", "daily", query={"role": role, "from": start, "to": end})
    return get(service, models.DailyStatement, path)


def spend(service: Service, start: date | None, end: date | None) -> Flow[models.SpendStatement]:
    return get(service, models.SpendStatement, path_of("v1", "statements", "spend", query={"from": start, "to": end}))


def webhook_endpoints(service: Service) -> Flow[list[models.WebhookEndpoint]]:
    answer = yield from get(service, models.WebhookEndpoints, path_of("v1", "webhooks"))
    return answer.endpoints


def create_webhook(service: Service, url: str, event_types: Sequence[str]) -> Flow[models.WebhookSecret]:
    body = {"url": url, "event_types": list(event_types)}
    return _change(service, models.WebhookSecret, "POST", path_of("v1", "webhooks"), body)


def webhook_endpoint(service: Service, endpoint_id: str) -> Flow[models.WebhookEndpoint]:
    return get(service, models.WebhookEndpoint, path_of("v1", "webhooks", endpoint_id))


def update_webhook(
    service: Service, endpoint_id: str, url: str | None, event_types: Sequence[str] | None, enabled: bool | None
) -> Flow[models.WebhookEndpoint]:
    changes = {"url": url, "event_types": None if event_types is None else list(event_types), "enabled": enabled}
    body = {name: value for name, value in changes.items() if value is not None}
    return _change(service, models.WebhookEndpoint, "PATCH", path_of("v1", "webhooks", endpoint_id), body)


def delete_webhook(service: Service, endpoint_id: str) -> Flow[None]:
    yield from _change(service, models.WebhookId, "DELETE", path_of("v1", "webhooks", endpoint_id))


def rotate_webhook_secret(service: Service, endpoint_id: str) -> Flow[models.WebhookSecret]:
    return _change(service, models.WebhookSecret, "POST", path_of("v1", "webhooks", endpoint_id, "rotate"))


def test_webhook(service: Service, endpoint_id: str) -> Flow[None]:
    yield from _change(service, models.WebhookId, "POST", path_of("v1", "webhooks", endpoint_id, "test"))


def delivery_pages(service: Service, endpoint_id: str, limit: int) -> FetchPage[models.WebhookDelivery]:
    def fetch(offset: int) -> Flow[tuple[list[models.WebhookDelivery], int]]:
        path = path_of("v1", "webhooks", endpoint_id, "deliveries", query={"limit": limit, "offset": offset})
        page = yield from get(service, models.WebhookDeliveryPage, path)
        return page.deliveries, page.total

    return fetch


def redeliver_webhook(service: Service, delivery_id: str) -> Flow[models.WebhookDelivery]:
    path = path_of("v1", "webhooks", "deliveries", delivery_id, "redeliver")
    return _change(service, models.WebhookDelivery, "POST", path)


def _change(service: Service, model: type[M], method: str, path: str, body: Mapping[str, Any] | None = None) -> Flow[M]:
    """A request that is sent once, because a retry could create, send or delete something twice."""
    answer = yield from ask(service, Call(method, path, body, repeatable=False))
    return read(model, answer, service.base_url)


def instant(time: datetime | None) -> datetime | None:
    """A time for a filter. Raises ValueError for text, or without a time zone: the moment would be ambiguous."""
    if time is not None and getattr(time, "tzinfo", None) is None:
        raise ValueError("from_ and to need a datetime with a time zone, such as datetime.now(timezone.utc)")
    return time

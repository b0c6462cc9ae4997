"""Each method of the clients as a flow or a call: both clients share everything but how they wait."""

import os
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from . import models
from ._calls import Call, Payment, Service, ask, checked_url, get, path_of, read
from ._flow import Flow
from ._lists import FetchPage
from ._version import USER_AGENT, __version__

DEFAULT_TIMEOUT = 60.0
DEFAULT_MAX_RETRIES = 2
RUN_TIMEOUT = 600.0
"""How long `run` and `wait` wait by default, seconds."""
PAGE = 100


def service_of(
    base_url: str | None,
    api_key: str | None,
    timeout: float,
    max_retries: int,
    user_agent: str | None,
    payment: Payment | None,
) -> Service:
    """The options of a client; what is missing comes from MARKETPLACE_URL and MARKETPLACE_API_KEY."""
    url = base_url or os.environ.get("MARKETPLACE_URL")
    if not url:
        raise ValueError("give base_url, or set MARKETPLACE_URL")
    key = api_key or os.environ.get("MARKETPLACE_API_KEY")
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


def archive(service: Service, execution_id: str) -> Flow[models.ArchiveAnswer]:
    return get(service, models.ArchiveAnswer, path_of("v1", "executions", execution_id, "archive"))


def delete_content(service: Service, execution_id: str) -> Flow[models.DeletedContent]:
    call = Call("DELETE", path_of("v1", "executions", execution_id, "content"), repeatable=False)
    answer = yield from ask(service, call)
    return read(models.DeletedContent, answer, service.base_url)


def daily(service: Service, role: str | None, start: date | None, end: date | None) -> Flow[models.DailyStatement]:
    path = path_of("v1", "statements", "daily", query={"role": role, "from": start, "to": end})
    return get(service, models.DailyStatement, path)


def spend(service: Service, start: date | None, end: date | None) -> Flow[models.SpendStatement]:
    return get(service, models.SpendStatement, path_of("v1", "statements", "spend", query={"from": start, "to": end}))


def instant(time: datetime | None) -> datetime | None:
    """A time for a filter. Raises ValueError without a zone, because nobody could tell which moment it is."""
    if time is not None and time.tzinfo is None:
        raise ValueError("from_ and to need a time zone, such as datetime.now(timezone.utc)")
    return time

"""Call paid AI agents, verify what was paid, receive webhooks, and (`paid_agents.creator`) sell agents."""

from ._events import ExecutionEvent
from ._version import __version__
from .async_client import AsyncClient
from .client import Client
from .errors import (
    AgentPausedError,
    APIConnectionError,
    APIStatusError,
    APITimeoutError,
    AuthenticationError,
    ConflictError,
    ExecutionFailedError,
    ExecutionTimeoutError,
    InsufficientBalanceError,
    InternalServerError,
    InvalidRequestError,
    MarketplaceError,
    NotFoundError,
    PermissionDeniedError,
    PriceChangedError,
    RateLimitError,
    ResultUnavailableError,
    ServiceUnavailableError,
    UnexpectedAnswerError,
    WaitTimeoutError,
)
from .models import (
    Agent,
    AgentSummary,
    CompletedExecution,
    Execution,
    ExecutionSummary,
    StartedExecution,
)
from .money import from_base_units, to_base_units

__all__ = [
    "APIConnectionError",
    "APIStatusError",
    "APITimeoutError",
    "Agent",
    "AgentPausedError",
    "AgentSummary",
    "AsyncClient",
    "AuthenticationError",
    "Client",
    "CompletedExecution",
    "ConflictError",
    "Execution",
    "ExecutionEvent",
    "ExecutionFailedError",
    "ExecutionSummary",
    "ExecutionTimeoutError",
    "InsufficientBalanceError",
    "InternalServerError",
    "InvalidRequestError",
    "MarketplaceError",
    "NotFoundError",
    "PermissionDeniedError",
    "PriceChangedError",
    "RateLimitError",
    "ResultUnavailableError",
    "ServiceUnavailableError",
    "StartedExecution",
    "UnexpectedAnswerError",
    "WaitTimeoutError",
    "__version__",
    "from_base_units",
    "to_base_units",
]

"""The body of an error answer, and the details of each kind of error."""

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from .models import Model, Usdc


class ErrorBody(Model):
    code: str
    message: str
    execution_id: str | None = None
    details: dict[str, Any] | None = None


class ErrorAnswer(Model):
    error: ErrorBody


class RequestIssue(Model):
    """One fault of a request."""

    in_: Literal["body", "query", "header"] = Field(alias="in")
    path: str
    expected: str
    got: str


class InvalidRequestDetails(Model):
    issues: list[RequestIssue]


class PriceLimitDetails(Model):
    limit: Literal["balance", "allowance", "per_execution", "period", "total"]
    wallet: str
    have_usdc: Usdc | None
    need_usdc: Usdc
    renews_at: datetime | None = None


class GasLimitDetails(Model):
    limit: Literal["gas"]
    wallet: str
    gas_balance_address: str
    have_lamports: int | None
    need_lamports: int | None


class PaymentDetails(Model):
    reason: str


class ScopeDetails(Model):
    needs: str
    has: list[str]


class AddressDetails(Model):
    address: str


class AgentDetails(Model):
    agent_id: str


class PriceChangedDetails(Model):
    price_usdc: Usdc | None
    max_cost_usdc: Usdc


class NotSettledDetails(Model):
    status: Literal["pending", "running", "failed"]


class ContentNeededDetails(Model):
    reason: Literal["not_ended", "dispute_window", "disputed"]
    until: datetime | None


class PayloadDetails(Model):
    max_bytes: int


class MethodDetails(Model):
    allowed: list[str]

"""The API's answers. Fields that a newer marketplace adds are ignored; amounts are `Decimal` USDC, times are UTC."""

from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field


def plain(value: Any) -> Any:
    """JSON as `json.loads` returns it: numbers that are not amounts become floats again."""
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, list):
        return [plain(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}  # pyright: ignore[reportUnknownVariableType]
    return value


Usdc = Annotated[Decimal, Field(ge=0)]
JsonObject = Annotated[dict[str, Any], BeforeValidator(plain)]
JsonList = Annotated[list[Any], BeforeValidator(plain)]


class Model(BaseModel):
    # An answer may contain a webhook's secret.
    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)


class Creator(Model):
    pubkey: str
    verified: bool
    display_name: str | None = None


class AgentHealth(Model):
    status: Literal["ok", "degraded"]
    success_rate_recent: float | None
    p50_ms: int | None
    p95_ms: int | None


class AgentSummary(Model):
    agent_id: str
    name: str
    tagline: str
    tags: list[str]
    price_per_call_usdc: Usdc
    total_executions: int
    success_rate: float
    avg_execution_time_ms: int
    creator: Creator
    status: Literal["active", "paused"]
    health: AgentHealth
    picture_path: str | None = None
    open_disputes: int | None = None


class Agent(AgentSummary):
    description: str
    input_schema: JsonObject
    output_schema: JsonObject
    timeout_seconds: int
    min_timeout_seconds: int
    max_result_bytes: int
    successful_executions: int
    dispute_count: int
    upheld_disputes: int | None = None
    rejected_disputes: int | None = None
    collateral_usdc: Usdc | None = None
    slashed_usdc: Usdc | None = None
    on_chain_listing: str
    created_at: datetime


class AgentPage(Model):
    agents: list[AgentSummary]
    total: int
    limit: int
    offset: int


class AgentFigures(Model):
    completed: int
    failed: int
    refunded: int
    success_rate: float | None
    p50_ms: int | None
    p95_ms: int | None


class AgentDay(AgentFigures):
    day: date


class AgentRefunds(Model):
    reason: str
    executions: int


class AgentStatistics(Model):
    agent_id: str
    from_: date = Field(alias="from")
    to: date
    days: list[AgentDay]
    total: AgentFigures
    refunds: list[AgentRefunds]


class CompletedExecution(Model):
    """A paid call that was answered. `result` is the exact text that the creator signed."""

    execution_id: str
    status: Literal["completed"]
    result: str
    result_hash: str
    cost_usdc: Usdc
    tokens_used: int | None
    execution_time_ms: int | None
    on_chain_record: str
    ipfs_url: str | None


class StartedExecution(Model):
    """A paid call in progress. Pass `execution_id` to `executions.wait`."""

    execution_id: str
    status: Literal["pending", "running"]


class ExecutionError(Model):
    code: str
    message: str


class ExecutionDispute(Model):
    outcome: Literal["open", "upheld", "rejected", "lapsed"]


class Archive(Model):
    """The proof of an archived execution."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    archive: str
    archive_index: int = Field(ge=0)
    tree: str
    leaf_index: int = Field(ge=0)
    record: str
    fields: str = Field(pattern=r"^[A-Za-z0-9+/]+={0,2}$")
    leaf: str = Field(pattern=r"^[0-9a-f]{64}$")
    proof: list[Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]] = Field(min_length=20, max_length=20)
    root: str = Field(pattern=r"^[0-9a-f]{64}$")
    transaction: str


class ArchiveAnswer(Archive):
    """The same, but it ignores the fields of a newer marketplace."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class ExecutionSummary(Model):
    execution_id: str
    agent_id: str
    agent_name: str | None
    task: str | None = None
    key_id: str | None = None
    key_name: str | None = None
    deposit: str | None = None
    status: Literal["pending", "running", "completed", "failed", "disputed"]
    error: ExecutionError | None = None
    refund: str | None = None
    dispute: ExecutionDispute | None = None
    cost_usdc: Usdc
    refunded_usdc: Usdc | None = None
    returned_usdc: Usdc | None = None
    initiated_at: datetime
    completed_at: datetime | None
    execution_time_ms: int | None = None
    on_chain_record: str

    @property
    def is_ended(self) -> bool:
        """True once its outcome is known. A disputed execution was completed and paid before."""
        return self.status not in ("pending", "running")


class Execution(ExecutionSummary):
    result: str | None
    result_hash: str | None
    creator_amount_usdc: Usdc
    platform_amount_usdc: Usdc
    service_fee_usdc: Usdc | None = None
    tokens_used: int | None
    ipfs_url: str | None
    signature: str | None = None
    execution_signature: str | None = None
    steps: JsonList | None
    archive: ArchiveAnswer | None = None
    content_deleted_at: datetime | None = None


class ExecutionEventData(Model):
    execution_id: str
    agent_id: str
    status: Literal["pending", "running", "completed", "failed", "disputed"]
    cost_usdc: Usdc
    """The price; 0 if the execution failed."""
    error_code: str | None
    """Why it failed; None for other events, and if only the chain knows it."""


class ExecutionEvent(Model):
    """An event of an execution."""

    id: str
    """A later event has a larger number."""
    type: str
    """Such as `execution.completed`."""
    timestamp: datetime
    data: ExecutionEventData

    @property
    def is_ended(self) -> bool:
        """True for the last event."""
        return self.type in ("execution.completed", "execution.failed")


class ExecutionPage(Model):
    executions: list[ExecutionSummary]
    total: int
    limit: int
    offset: int


class DeletedContent(Model):
    execution_id: str
    content_deleted_at: datetime


class StatementFigures(Model):
    executions: int
    completed: int
    refunded: int
    disputed: int
    paid_usdc: Usdc
    earned_usdc: Usdc
    fee_usdc: Usdc
    refunded_usdc: Usdc
    returned_usdc: Usdc
    slashed_usdc: Usdc
    service_fee_usdc: Usdc | None = None


class StatementDay(StatementFigures):
    day: date


class DailyStatement(Model):
    wallet: str
    role: Literal["caller", "creator"]
    from_: date = Field(alias="from")
    to: date
    days: list[StatementDay]
    total: StatementFigures


class SpendRow(Model):
    day: date
    key_id: str | None
    key_name: str | None
    agent_id: str
    agent_name: str | None
    executions: int
    completed: int
    refunded: int
    paid_usdc: Usdc
    refunded_usdc: Usdc
    returned_usdc: Usdc
    service_fee_usdc: Usdc | None = None


class SpendStatement(Model):
    wallet: str
    from_: date = Field(alias="from")
    to: date
    rows: list[SpendRow]

"""A receipt: one document that proves that an execution was requested, answered and paid."""

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer

from .._model import Count, number, plain
from ..models import Archive
from ..money import json_usdc, to_base_units

_Address = Annotated[str, Field(pattern=r"^[1-9A-HJ-NP-Za-km-z]{32,44}$")]
_Signature = Annotated[str, Field(pattern=r"^ed25519:[1-9A-HJ-NP-Za-km-z]{64,88}$")]
_Transaction = Annotated[str, Field(pattern=r"^[1-9A-HJ-NP-Za-km-z]{64,88}$")]
_TIME = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?Z$"


def _is_time(text: str) -> str:
    seconds_of(text)
    return text


def _is_usdc(amount: Decimal) -> Decimal:
    to_base_units(amount)
    return amount


_Time = Annotated[str, Field(pattern=_TIME), AfterValidator(_is_time)]


def seconds_of(time: str) -> str:
    """Unix seconds as text. The chain has whole seconds, so a fraction matches no record."""
    whole, _, rest = time.removesuffix("Z").partition(".")
    seconds = int(datetime.fromisoformat(f"{whole}+00:00").timestamp())
    fraction = rest.rstrip("0")
    return f"{seconds}.{fraction}" if fraction else f"{seconds}"


class Transactions(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    open: _Transaction | None
    settle: _Transaction | None


class ReceiptArchive(Archive):
    """Without fields of a newer marketplace: nobody has checked them."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Receipt(BaseModel):
    """`model_dump_json(exclude_unset=True)` writes it as it came. `task` and `parameters` may be removed first."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=False)
    version: Annotated[Literal[1], BeforeValidator(plain), BeforeValidator(number)]
    program_id: _Address
    genesis_hash: _Address
    execution_id: str = Field(pattern=r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
    record: _Address
    agent_id: _Address
    caller: _Address
    signing_key: _Address
    request_hash: str = Field(pattern=r"^[0-9a-f]{64}$")
    task: str | None = None
    parameters: Annotated[dict[str, Any], BeforeValidator(plain)] | None = None
    result: str | None = None
    result_hash: str = Field(pattern=r"^sha256:[0-9a-f]{64}$")
    signature: _Signature
    execution_signature: _Signature | None
    price_usdc: Annotated[
        Decimal,
        BeforeValidator(number),
        Field(ge=0),
        AfterValidator(_is_usdc),
        PlainSerializer(json_usdc, when_used="json"),
    ]
    fee_bps: Annotated[Count, Field(le=10_000)]
    opened_at: _Time
    settled_at: _Time
    transactions: Transactions
    archive: ReceiptArchive | None

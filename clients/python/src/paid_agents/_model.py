"""What the classes of the API's answers share, and the body of an error."""

from decimal import Decimal
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field


def plain(value: Any) -> Any:
    """JSON as `json.loads` returns it: numbers that are not amounts become floats again."""
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    return value


def number(value: Any) -> Any:
    """Refuses what pydantic would take for a number: texts and booleans."""
    if isinstance(value, (str, bool)):
        raise ValueError("a number is needed")
    return value


Usdc = Annotated[Decimal, Field(ge=0)]
# A double first: an int of the decimal 1e999999999 would fill the memory.
Count = Annotated[int, BeforeValidator(plain), BeforeValidator(number), Field(ge=0, le=2**53 - 1)]
JsonObject = Annotated[dict[str, Any], BeforeValidator(plain)]
JsonList = Annotated[list[Any], BeforeValidator(plain)]


class Model(BaseModel):
    # An answer may contain a webhook's secret.
    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)


class ErrorBody(Model):
    code: str
    message: str
    execution_id: str | None = None
    details: dict[str, Any] | None = None


class ErrorAnswer(Model):
    error: ErrorBody

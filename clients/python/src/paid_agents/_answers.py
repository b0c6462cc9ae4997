"""Reads the API's answers: JSON with exact decimals, as models, or as errors."""

import json
from decimal import Decimal
from typing import Any, TypeVar

import httpx
from pydantic import BaseModel, ValidationError

from ._flow import Answer
from ._model import ErrorAnswer
from .errors import MarketplaceError, UnexpectedAnswerError, status_error

M = TypeVar("M", bound=BaseModel)


def write_json(value: Any) -> bytes:
    """JSON in UTF-8. Raises ValueError for values outside JSON: NaN, infinities, lone surrogates, other types."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, RecursionError) as error:
        raise ValueError(f"not JSON: {error}") from error


def error_of(answer: Answer, base_url: str) -> MarketplaceError:
    try:
        body = ErrorAnswer.model_validate(read_json(answer.body)).error
    except ValueError:
        return unexpected(answer, base_url, "and an unknown error")
    request_id = answer.headers.get("x-request-id")
    status = None if answer.is_error else answer.status
    return status_error(body, status=status, request_id=request_id, retry_after_seconds=retry_after(answer))


def retry_after(answer: Answer) -> float | None:
    text = answer.headers.get("retry-after", "")
    return float(text) if text.isascii() and text.isdigit() else None


def read_json(body: bytes) -> Any:
    """JSON with exact decimals. Raises ValueError."""
    try:
        return json.loads(body, parse_float=Decimal, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


def read(model: type[M], answer: Answer, base_url: str) -> M:
    """Reads the answer as this model. Raises UnexpectedAnswerError if it does not match."""
    try:
        return model.model_validate(read_json(answer.body))
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise unexpected(answer, base_url, f"and no valid {model.__name__}: {where}") from error
    except ValueError as error:
        raise unexpected(answer, base_url, "and no JSON. Is it the address of a marketplace?") from error


def unexpected(answer: Answer, base_url: str, what: str) -> UnexpectedAnswerError:
    message = f"{base_url} answered with status {answer.status} {what}"
    return UnexpectedAnswerError(message, status=answer.status, request_id=answer.headers.get("x-request-id"))


def redirected(answer: Answer, base_url: str, path: str) -> UnexpectedAnswerError:
    """Redirects are not followed: a POST would become a GET. The message has the right address where it is known."""
    try:
        target = httpx.URL(base_url + path).join(answer.headers["location"])
    except (KeyError, httpx.InvalidURL):
        return unexpected(
            answer, base_url, "and a redirect, which is not followed; use the address that it leads to as base URL"
        )
    shown = str(target.copy_with(userinfo=b"", query=None, fragment=None))
    route = path.split("?")[0]
    advice = f"; use the base URL {shown.removesuffix(route)}" if shown.endswith(route) else ""
    return unexpected(answer, base_url, f"and a redirect to {shown}, which is not followed{advice}")

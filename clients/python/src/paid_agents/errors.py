"""Every error of this package. `code` is the API's own, or the client's own if no answer came."""

from typing import Any, ClassVar

from pydantic import ValidationError

from . import models
from ._model import ErrorBody


class MarketplaceError(Exception):
    """Base of all errors of this package. An error proves that a call was not paid only if its doc says so."""

    code: str = "error"

    def __init__(self, message: str, *, execution_id: str | None = None, idempotency_key: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.execution_id = execution_id
        """The execution that the error is about, if it is known."""
        self.idempotency_key = idempotency_key
        """Idempotency key of a paid call. The same call with it never pays twice and returns the first outcome."""


class APIConnectionError(MarketplaceError):
    """No answer came, even after retries. A paid call may have run: retry it with its idempotency key."""

    code = "connection_failed"


class APITimeoutError(APIConnectionError):
    """No answer came in time. A paid call may have run: retry it with its idempotency key."""

    code = "timeout"


class WaitTimeoutError(MarketplaceError):
    """The `timeout` of `run` or `wait` passed. The execution continues: wait again, or retry the call with its key."""

    code = "wait_timeout"


class UnexpectedAnswerError(MarketplaceError):
    """The answer is not from a marketplace, for example a load balancer's page. The outcome of a call is unknown."""

    code = "unexpected_answer"

    def __init__(self, message: str, *, status: int, request_id: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.request_id = request_id


class APIStatusError(MarketplaceError):
    """An error answer of the marketplace. A code that this version does not know has this class itself."""

    codes: ClassVar[tuple[str, ...]] = ()
    details: Any = None
    """The facts of `message` for programs; None if there are none. Subclasses declare its type."""

    def __init__(
        self,
        message: str,
        *,
        code: str,
        status: int | None,
        details: Any = None,
        execution_id: str | None = None,
        request_id: str | None = None,
        retry_after_seconds: float | None = None,
    ) -> None:
        super().__init__(message, execution_id=execution_id)
        self.code = code
        self.status = status
        """HTTP status. None if the error came in a stream, or in the record of an execution."""
        self.details = details
        self.request_id = request_id
        """X-Request-Id, to find the request in the marketplace's logs."""
        self.retry_after_seconds = retry_after_seconds

    def __str__(self) -> str:
        status = "" if self.status is None else f" (HTTP {self.status})"
        return f"{self.code}: {self.message}{status}"


class InvalidRequestError(APIStatusError):
    """The request is wrong. For `invalid_request`, `details.issues` lists every fault. Nothing was charged."""

    codes = (
        "invalid_request",
        "method_not_allowed",
        "payload_too_large",
        "unsupported_media_type",
        "idempotency_key_reused",
    )
    details: models.InvalidRequestDetails | models.PayloadDetails | models.MethodDetails | dict[str, Any] | None


class AuthenticationError(APIStatusError):
    """The API key is missing, unknown, revoked, expired, or of the other environment. Nothing was charged."""

    codes = ("unauthorized", "wrong_environment")


class PermissionDeniedError(APIStatusError):
    """The key is valid but restricted. Nothing was charged."""

    codes = ("insufficient_scope", "address_not_allowed", "agent_not_allowed", "not_admin", "foreign_origin")
    details: models.ScopeDetails | models.AddressDetails | models.AgentDetails | dict[str, Any] | None


class InsufficientBalanceError(APIStatusError):
    """The wallet, its key or its gas balance cannot pay. `details.limit` names the limit. Nothing was charged.

    With code `payment_required`, the payment by x402 was not accepted. `details.reason` says why.
    """

    codes = ("insufficient_balance", "payment_required")
    details: models.PriceLimitDetails | models.GasLimitDetails | models.PaymentDetails | None


class PriceChangedError(APIStatusError):
    """The agent costs more than `max_cost_usdc`, or its terms changed during the call. Nothing was charged."""

    codes = ("price_changed",)
    details: models.PriceChangedDetails | None


class NotFoundError(APIStatusError):
    """There is no such agent, execution or route, or it belongs to another wallet."""

    codes = ("agent_not_found", "execution_not_found", "webhook_not_found", "not_found")


class ConflictError(APIStatusError):
    """The state of the execution does not allow this now."""

    codes = (
        "request_in_progress",
        "not_startable",
        "not_settled",
        "content_needed",
        "payment_id_reused",
        "webhook_limit_reached",
    )
    details: models.NotSettledDetails | models.ContentNeededDetails | dict[str, Any] | None


class ResultUnavailableError(APIStatusError):
    """The execution was completed and paid, but the service no longer has its result."""

    codes = ("result_unavailable",)


class AgentPausedError(APIStatusError):
    """The agent is paused. Nothing was charged."""

    codes = ("agent_paused",)


class ExecutionFailedError(APIStatusError):
    """The agent failed or gave no valid signed answer. The escrow is refunded in full."""

    codes = ("execution_failed",)


class ExecutionTimeoutError(APIStatusError):
    """The agent did not answer in time. The escrow is refunded in full."""

    codes = ("execution_timeout",)


class RateLimitError(APIStatusError):
    """Too many requests. Retry after `retry_after_seconds`. Nothing was charged."""

    codes = ("rate_limited",)


class ServiceUnavailableError(APIStatusError):
    """The service cannot handle the request now. Retry a paid call with its key."""

    codes = ("service_unavailable", "metadata_missing")


class InternalServerError(APIStatusError):
    """The service has an internal error. The outcome is unknown: retry a paid call with its key."""

    codes = ("internal_error",)


_CLASSES: dict[str, type[APIStatusError]] = {
    code: kind for kind in APIStatusError.__subclasses__() for code in kind.codes
}


def status_error(
    body: ErrorBody,
    *,
    status: int | None,
    request_id: str | None = None,
    retry_after_seconds: float | None = None,
) -> APIStatusError:
    """The error of an answer's body, in the class of its code, with typed details."""
    kind = _CLASSES.get(body.code, APIStatusError)
    return kind(
        body.message,
        code=body.code,
        status=status,
        details=_typed(body.code, body.details),
        execution_id=body.execution_id,
        request_id=request_id,
        retry_after_seconds=retry_after_seconds,
    )


def _typed(code: str, details: dict[str, Any] | None) -> Any:
    for model in models.DETAILS.get(code, ()) if details is not None else ():
        try:
            return model.model_validate(details)
        except ValidationError:
            continue
    return details  # As it came: None, or the details of a newer marketplace.

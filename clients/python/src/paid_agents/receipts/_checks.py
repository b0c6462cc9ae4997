"""The result of checking a receipt: a list of checks, each with the compared values and their source."""

from dataclasses import dataclass, field
from typing import Literal, get_args

CheckName = Literal[
    "shape",
    "result_hash",
    "signature",
    "request_hash",
    "execution_signature",
    "genesis_hash",
    "program",
    "record",
    "signing_key",
]
CHECKS: tuple[CheckName, ...] = get_args(CheckName)
"""In the order of the checks. The first five need no network."""


@dataclass(frozen=True)
class Comparison:
    what: str
    got: str
    """The value found."""
    expected: str
    """The value of the receipt, or the required value."""


@dataclass(frozen=True)
class Check:
    name: CheckName
    state: Literal["passed", "failed", "not_checked"]
    """`not_checked` says nothing about the receipt: data was missing, and `reason` names it."""
    compared: list[Comparison]
    source: str
    """`receipt`, or the URL of the node that was asked."""
    reason: str | None
    """Why the check was not made, or what it does not prove."""


@dataclass(frozen=True)
class Verification:
    """All checks of a receipt, in the order of `CHECKS`."""

    checks: list[Check]

    @property
    def failed(self) -> list[Check]:
        return [check for check in self.checks if check.state == "failed"]

    @property
    def not_checked(self) -> list[Check]:
        return [check for check in self.checks if check.state == "not_checked"]

    @property
    def ok(self) -> bool:
        """True if no check failed and the chain's record shows that the price was paid out for this result."""
        passed = {check.name for check in self.checks if check.state == "passed"}
        return not self.failed and {"signature", "genesis_hash", "program", "record"} <= passed


@dataclass
class OpenCheck:
    """Collects the comparisons of one check."""

    name: CheckName
    source: str
    compared: list[Comparison] = field(default_factory=list[Comparison])
    reasons: list[str] = field(default_factory=list[str])
    is_open: bool = False

    def equal(self, what: str, got: str, expected: str) -> None:
        self.compared.append(Comparison(what, got, expected))

    def lacks(self, reason: str) -> None:
        """A value that the check needs is missing. Unless a comparison fails, the check counts as not made."""
        self.is_open = True
        self.reasons.append(reason)

    def notes(self, reason: str) -> None:
        """A value that the check does not need is missing."""
        self.reasons.append(reason)

    def end(self) -> Check:
        if any(one.got != one.expected for one in self.compared):
            return self._as("failed")
        return self._as("not_checked" if self.is_open or not self.compared else "passed")

    def _as(self, state: Literal["passed", "failed", "not_checked"]) -> Check:
        return Check(self.name, state, self.compared, self.source, " ".join(self.reasons) or None)


def not_checked(name: CheckName, source: str, reason: str) -> Check:
    """A check that could not start."""
    return Check(name, "not_checked", [], source, reason)

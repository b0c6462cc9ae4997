"""The checks that need only the receipt itself, so no server can change their result."""

from dataclasses import dataclass

from ._checks import Check, OpenCheck
from .hashing import execution_message, hash_result, key_of, request_hash, verify_message, verify_result_signature
from .receipt import Receipt

NO_RECEIPT = "No receipt was given, only the id of the execution."


@dataclass(frozen=True)
class Claim:
    """A whole receipt, or only the identity of an execution."""

    program_id: str
    execution_id: str
    record: str
    receipt: Receipt | None


def validity(is_valid: bool) -> str:
    return "valid" if is_valid else "invalid"


def check_result_hash(claim: Claim) -> Check:
    check = OpenCheck("result_hash", "receipt")
    if claim.receipt is None:
        check.lacks(NO_RECEIPT)
    elif claim.receipt.result is None:
        check.lacks("The receipt does not contain the result, only its hash.")
    else:
        check.equal("result_hash", _hash_or_reason(claim.receipt.result), claim.receipt.result_hash)
    return check.end()


def _hash_or_reason(result: str) -> str:
    try:
        return hash_result(result)
    except UnicodeEncodeError:
        return "none: not Unicode"


def check_signature(claim: Claim) -> Check:
    check = OpenCheck("signature", "receipt")
    if claim.receipt is None:
        check.lacks(NO_RECEIPT)
    else:
        receipt = claim.receipt
        is_valid = verify_result_signature(key_of(receipt.signing_key), receipt.result_hash, receipt.signature)
        check.equal("signature of signing_key over result_hash", validity(is_valid), "valid")
    return check.end()


def check_request_hash(claim: Claim) -> Check:
    check = OpenCheck("request_hash", "receipt")
    if claim.receipt is None:
        check.lacks(NO_RECEIPT)
        return check.end()
    task, parameters = claim.receipt.task, claim.receipt.parameters
    if task is not None:
        try:
            found = request_hash(task, parameters).hex()
        except ValueError as error:
            found = f"none: {error}"
        check.equal("request_hash", found, claim.receipt.request_hash)
    elif parameters is not None:
        # No open can commit to parameters without a task.
        check.equal("task", "missing", "a value, because parameters are given")
    else:
        check.lacks("The receipt does not contain the request.")
    return check.end()


def check_execution_signature(claim: Claim) -> Check:
    check = OpenCheck("execution_signature", "receipt")
    receipt = claim.receipt
    if receipt is None:
        check.lacks(NO_RECEIPT)
    elif receipt.execution_signature is None:
        check.lacks("The creator gave no signature over the execution; it is optional.")
    else:
        message = execution_message(claim.program_id, claim.execution_id, receipt.request_hash, receipt.result_hash)
        is_valid = verify_message(key_of(receipt.signing_key), message, receipt.execution_signature)
        check.equal("signature of signing_key over the execution", validity(is_valid), "valid")
    return check.end()

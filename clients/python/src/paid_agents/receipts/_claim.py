"""The checks that need only the receipt itself, so no server can change their result."""

from ._checks import Check, OpenCheck
from .hashing import execution_message, hash_result, key_of, request_hash, verify_message, verify_result_signature
from .receipt import Receipt


def _validity(is_valid: bool) -> str:
    return "valid" if is_valid else "invalid"


def check_result_hash(receipt: Receipt) -> Check:
    check = OpenCheck("result_hash", "receipt")
    if receipt.result is None:
        check.lacks("The receipt does not contain the result, only its hash.")
    else:
        check.equal("result_hash", _hash_or_reason(receipt.result), receipt.result_hash)
    return check.end()


def _hash_or_reason(result: str) -> str:
    try:
        return hash_result(result)
    except UnicodeEncodeError:
        return "none: not Unicode"


def check_signature(receipt: Receipt) -> Check:
    check = OpenCheck("signature", "receipt")
    is_valid = verify_result_signature(key_of(receipt.signing_key), receipt.result_hash, receipt.signature)
    check.equal("signature of signing_key over result_hash", _validity(is_valid), "valid")
    return check.end()


def check_request_hash(receipt: Receipt) -> Check:
    check = OpenCheck("request_hash", "receipt")
    if receipt.task is not None:
        try:
            found = request_hash(receipt.task, receipt.parameters).hex()
        except ValueError as error:
            found = f"none: {error}"
        check.equal("request_hash", found, receipt.request_hash)
    elif receipt.parameters is not None:
        # No open can commit to parameters without a task.
        check.equal("task", "missing", "a value, because parameters are given")
    else:
        check.lacks("The receipt does not contain the request.")
    return check.end()


def check_execution_signature(receipt: Receipt) -> Check:
    check = OpenCheck("execution_signature", "receipt")
    if receipt.execution_signature is None:
        check.lacks("The creator gave no signature over the execution; it is optional.")
        return check.end()
    message = execution_message(receipt.program_id, receipt.execution_id, receipt.request_hash, receipt.result_hash)
    is_valid = verify_message(key_of(receipt.signing_key), message, receipt.execution_signature)
    check.equal("signature of signing_key over the execution", _validity(is_valid), "valid")
    return check.end()

"""Checks the two transactions of an execution: the one that put the price into escrow, and the one that ended it."""

from dataclasses import dataclass

from .._flow import Flow
from ..money import to_base_units
from . import _program
from ._checks import Check, OpenCheck
from ._claim import Claim, validity
from ._node import Node, NodeTransaction, UnansweredError
from ._program import PROGRAM, Called, Record
from ._transfers import sent_from
from .hashing import format_signature, key_of, verify_result_signature

_OPENS = ("open_execution", "open_execution_with_grant", "open_execution_from_deposit")
_SETTLES = ("settle_execution",)
_MOVE = "move_unclaimed_refund"
_REFUNDS = ("refund_execution", _MOVE)


@dataclass(frozen=True)
class Landed:
    transaction: NodeTransaction
    call: Called


def check_opening(node: Node, claim: Claim) -> Flow[tuple[Check, str | None]]:
    """Checks the open. Also returns the wallet that paid, from this transaction."""
    check = OpenCheck("opening", node.source)
    receipt = claim.receipt
    landed = yield from _read_landed(check, node, claim, _OPENS, receipt.transactions.open if receipt else None)
    if landed is None:
        return check.end(), None
    accounts = landed.call.accounts
    if receipt is not None:
        committed = _program.opened_request_hash(landed.call)
        check.equal("agent_id", accounts.get("listing", ""), receipt.agent_id)
        check.equal("request_hash", committed.hex() if committed else "", receipt.request_hash)
    return check.end(), accounts.get("caller")


def check_settlement(
    node: Node, claim: Claim, record: Record | None, creator: str | None, caller: str | None
) -> Flow[Check]:
    """Checks that the program accepted this signature for this hash, and paid the price less the fee.

    Amounts must be exact to the base unit. Without a receipt the last transaction may be a refund instead: then it paid
    everything back to the caller.
    """
    check = OpenCheck("settlement", node.source)
    receipt = claim.receipt
    names = _SETTLES if receipt is not None else _SETTLES + _REFUNDS
    landed = yield from _read_landed(check, node, claim, names, receipt.transactions.settle if receipt else None)
    if landed is None:
        return check.end()
    call = landed.call
    if call.name in _REFUNDS:
        _compare_refund(check, landed, record, caller)
        return check.end()
    result_hash, signature = _program.settled_result(call) or (b"", b"")
    committed, signed = f"sha256:{result_hash.hex()}", format_signature(signature)
    listing = receipt.agent_id if receipt else record.listing if record else None
    hash_wanted = receipt.result_hash if receipt else f"sha256:{record.result_hash.hex()}" if record else None
    check.equal("agent_id", call.accounts.get("listing", ""), listing)
    check.equal("result_hash", committed, hash_wanted)
    check.equal("signature", signed, receipt.signature if receipt else None)
    key = receipt.signing_key if receipt else record.signing_key if record else None
    if key is not None:
        is_valid = verify_result_signature(key_of(key), committed, signed)
        check.equal("signature of signing_key over result_hash", validity(is_valid), "valid")
    terms: tuple[int, int] | None = None
    if receipt is not None:
        terms = (to_base_units(receipt.price_usdc), receipt.fee_bps)
    elif record is not None:
        terms = (record.price, record.fee_bps)
    _compare_payment(check, landed, creator, terms)
    return check.end()


def _compare_refund(check: OpenCheck, landed: Landed, record: Record | None, caller: str | None) -> None:
    """Compares what left the escrow with the refund in the caller's account, or in that of unclaimed refunds."""
    accounts = landed.call.accounts
    unclaimed = accounts.get("unclaimed", "")
    is_unclaimed = landed.call.name == _MOVE
    check.equal("status", "refunded", record.status if record else None)
    check.equal("escrow", accounts.get("escrow", ""), _program.escrow_address(accounts.get("record", "")))
    moved = _read_moved(check, landed, unclaimed if is_unclaimed else accounts.get("destination", ""))
    if moved is None:
        return
    if record is not None:
        check.equal("escrow held at least the price", _text(moved.total >= record.price), "true")
    what = "base units unclaimed" if is_unclaimed else "base units back to the caller"
    check.equal(what, str(moved.received), str(moved.total))
    check.equal("base units left in the escrow", str(moved.left), "0")
    if is_unclaimed:
        check.equal("account of unclaimed refunds", unclaimed, _program.unclaimed_address())
    elif caller is None or moved.owner is None:
        check.notes("The owner of the caller's account was not compared: the node does not report it.")
    else:
        check.equal("owner of the caller's account", moved.owner, caller)


@dataclass(frozen=True)
class _Moved:
    sent: dict[str, int]
    """Base units out of the escrow, by receiver."""
    received: int
    total: int
    """All that the escrow held, if nothing is left in it."""
    owner: str | None
    """The receiver's owner; None if the node does not report it."""
    left: int


def _read_moved(check: OpenCheck, landed: Landed, receiver: str) -> _Moved | None:
    """The transfers out of the call's escrow, and the accounts after the transaction.

    Other calls in the transaction do not change them. None if the node does not report them; `check` has the reason.
    """
    escrow, holdings = landed.call.accounts.get("escrow", ""), landed.transaction.holdings
    sent = sent_from(escrow, landed.transaction.instructions)
    # Every settle and refund moves the price, which is never 0.
    if not sent:
        check.lacks("The node does not report the transfers out of the escrow.")
        return None
    held = holdings.get(receiver) if holdings else None
    if holdings is None or held is None:
        check.lacks("The node does not report the token balances.")
        return None
    remaining = holdings.get(escrow)
    return _Moved(
        sent=sent,
        received=sent.get(receiver, 0),
        total=sum(sent.values()),
        owner=held.owner,
        left=remaining.amount if remaining else 0,
    )


def _compare_payment(check: OpenCheck, landed: Landed, creator: str | None, terms: tuple[int, int] | None) -> None:
    """Compares the amounts that the escrow sent to each account.

    It may have held more than the price, because anyone can send USDC there. The surplus goes to the treasury.
    If the fee was waived because the treasury cannot receive, everything goes to the creator.
    """
    accounts = landed.call.accounts
    treasury = accounts.get("treasury", "")
    check.equal("escrow", accounts.get("escrow", ""), _program.escrow_address(accounts.get("record", "")))
    check.equal("treasury", treasury, _program.treasury_address())
    if terms is None:
        check.lacks("The price is unknown: neither the receipt nor the record has it.")
        return
    moved = _read_moved(check, landed, accounts.get("payout", ""))
    if moved is None:
        return
    price, fee_bps = terms
    to_treasury = moved.sent.get(treasury, 0)
    is_waived = fee_bps == 0 and to_treasury == 0
    to_creator = moved.total if is_waived else price - price * fee_bps // _program.BPS_DENOMINATOR
    check.equal("escrow held at least the price", _text(moved.total >= price), "true")
    check.equal("base units to the creator", str(moved.received), str(to_creator))
    check.equal("base units to the treasury", str(to_treasury), str(moved.total - to_creator))
    check.equal("base units left in the escrow", str(moved.left), "0")
    if creator is None:
        check.notes("The owner of the paid account was not compared: the creator is known only from the listing.")
    elif moved.owner is None:
        check.notes("The owner of the paid account was not compared: the node does not report it.")
    else:
        check.equal("owner of the creator's account", moved.owner, creator)


def _text(value: bool) -> str:
    return "true" if value else "false"


def _read_landed(
    check: OpenCheck, node: Node, claim: Claim, names: tuple[str, ...], signature: str | None
) -> Flow[Landed | None]:
    """The transaction and its call for this record. None if there is nothing to compare; `check` has the reason."""
    try:
        signatures = [signature] if signature else (yield from node.signatures_of(claim.record))
        for candidate in signatures:
            transaction = yield from node.transaction(candidate)
            call = _call_of(transaction, names, claim.record) if transaction else None
            if signature is None and call is None:
                continue
            if transaction is None:
                check.lacks("The node does not have the transaction. Try a node with a longer history.")
                return None
            check.equal("transaction", transaction.signature, candidate)
            check.equal("outcome", transaction.error or "succeeded", "succeeded")
            if call is None and not transaction.has_inner:
                check.lacks("The node does not report instructions that other programs called.")
                return None
            wanted = f"{call.name if call else ' or '.join(names)} of {claim.record}"
            check.equal("instruction", wanted if call else "none", wanted)
            return Landed(transaction, call) if call else None
        check.lacks("No transaction is named, and the node's history of the record has none.")
    except UnansweredError as error:
        check.lacks(str(error))
    return None


def _call_of(transaction: NodeTransaction, names: tuple[str, ...], record: str) -> Called | None:
    for one in transaction.instructions:
        call = _program.decode_call(one.data, one.accounts) if one.program == PROGRAM else None
        if call is not None and call.name in names and call.accounts.get("record") == record:
            return call
    return None

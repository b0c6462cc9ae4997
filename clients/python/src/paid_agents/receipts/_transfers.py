"""The token transfers of one execution in a transaction that may have those of others too."""

from ._node import NodeInstruction
from .hashing import decode_base58

_TOKEN_PROGRAM = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
_RECEIVER_AT = {3: 1, 12: 2}
"""Index of the receiver among the accounts, by the instruction's first byte: Transfer and TransferChecked."""
_MOST_LETTERS = 14
"""Length of the longer one's data in base58. Others of the token program may be long, and slow to decode."""


def sent_from(account: str, instructions: list[NodeInstruction]) -> dict[str, int]:
    """Base units that left this token account, by receiver.

    Only the program can send from an escrow, and each execution has an escrow of its own. So these are what its settle
    or refund moved, however that was called and whatever ran beside it.
    """
    sent: dict[str, int] = {}
    for one in instructions:
        if one.program != _TOKEN_PROGRAM or one.accounts[:1] != [account] or len(one.data) > _MOST_LETTERS:
            continue
        data = decode_base58(one.data) or b""
        at = _RECEIVER_AT.get(data[0]) if len(data) >= 9 else None
        if at is None or at >= len(one.accounts):
            continue
        receiver = one.accounts[at]
        sent[receiver] = sent.get(receiver, 0) + int.from_bytes(data[1:9], "little")
    return sent

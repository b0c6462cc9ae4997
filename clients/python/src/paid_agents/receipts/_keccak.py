"""Keccak-256, the hash of the archive's trees. hashlib has only the later SHA-3, which pads differently."""

_ROUNDS = (
    0x0000000000000001, 0x0000000000008082, 0x800000000000808A, 0x8000000080008000, 0x000000000000808B,
    0x0000000080000001, 0x8000000080008081, 0x8000000000008009, 0x000000000000008A, 0x0000000000000088,
    0x0000000080008009, 0x000000008000000A, 0x000000008000808B, 0x800000000000008B, 0x8000000000008089,
    0x8000000000008003, 0x8000000000008002, 0x8000000000000080, 0x000000000000800A, 0x800000008000000A,
    0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008,
)  # fmt: skip
_MASK = 2**64 - 1
_RATE = 136


def keccak_256(data: bytes) -> bytes:
    """The 32 bytes of the hash."""
    state = [[0] * 5 for _ in range(5)]
    padded = bytearray(data) + b"\x01" + bytes(-(len(data) + 1) % _RATE)
    padded[-1] |= 0x80
    for at in range(0, len(padded), _RATE):
        for lane in range(_RATE // 8):
            start = at + 8 * lane
            state[lane % 5][lane // 5] ^= int.from_bytes(padded[start : start + 8], "little")
        state = _permute(state)
    return b"".join(state[x][0].to_bytes(8, "little") for x in range(4))


def _rotate(value: int, by: int) -> int:
    return (value << by | value >> (64 - by)) & _MASK if by else value


def _permute(a: list[list[int]]) -> list[list[int]]:
    for constant in _ROUNDS:
        c = [a[x][0] ^ a[x][1] ^ a[x][2] ^ a[x][3] ^ a[x][4] for x in range(5)]
        d = [c[(x - 1) % 5] ^ _rotate(c[(x + 1) % 5], 1) for x in range(5)]
        a = [[lane ^ d[x] for lane in a[x]] for x in range(5)]
        x, y, current = 1, 0, a[1][0]
        for step in range(24):
            x, y = y, (2 * x + 3 * y) % 5
            current, a[x][y] = a[x][y], _rotate(current, (step + 1) * (step + 2) // 2 % 64)
        a = [[a[x][y] ^ (~a[(x + 1) % 5][y] & a[(x + 2) % 5][y]) for y in range(5)] for x in range(5)]
        a[0][0] ^= constant
    return a

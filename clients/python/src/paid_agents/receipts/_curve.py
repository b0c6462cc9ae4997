"""The curve of Ed25519 in plain integers, for the rules of the chain that differ from libsodium's."""

import hashlib

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
"""The order of the group (RFC 8032, 5.1)."""
D = -121665 * pow(121666, -1, P) % P
_ROOT_OF_MINUS_ONE = pow(2, (P - 1) // 4, P)

Point = tuple[int, int, int, int]
"""Extended coordinates: x = X/Z, y = Y/Z, x y = T/Z."""

SMALL_ORDER_Y = frozenset(
    int.from_bytes(bytes.fromhex(y), "little")
    for y in (
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    )
)
"""The y coordinates of the eight points whose order divides 8."""


def is_admissible(key: bytes) -> bool:
    """True if the chain admits it as a key, or as R of a signature: canonical, and not of small order."""
    if len(key) != 32:
        return False
    y = int.from_bytes(key, "little") % 2**255
    return y < P and y not in SMALL_ORDER_Y


def is_on_curve(key: bytes) -> bool:
    """True if 32 bytes encode a point. Program addresses do not."""
    y = int.from_bytes(key, "little") % 2**255
    y2 = y * y % P
    value = (y2 - 1) * (D * y2 + 1) % P
    return value == 0 or pow(value, (P - 1) // 2, P) == 1


def satisfies_equation(key: bytes, message: bytes, signature: bytes) -> bool:
    """True if R is the encoding of S B - h A. libsodium multiplies by the cofactor, and accepts more."""
    point = _decode(key)
    if point is None:
        return False
    r, s = signature[:32], int.from_bytes(signature[32:], "little")
    h = int.from_bytes(hashlib.sha512(r + key + message).digest(), "little") % L
    x, y, z, t = _multiply(h, point)
    return s < L and _encode(_add(_multiply(s, _BASE), (-x % P, y, z, -t % P))) == r


def _decode(key: bytes) -> Point | None:
    number = int.from_bytes(key, "little")
    y, sign = number % 2**255, number >> 255
    u, v = (y * y - 1) % P, (D * y * y + 1) % P
    x = u * pow(v, 3, P) * pow(u * pow(v, 7, P), (P - 5) // 8, P) % P
    if v * x * x % P != u:
        x = x * _ROOT_OF_MINUS_ONE % P
    if y >= P or v * x * x % P != u or (x == 0 and sign):
        return None
    x = P - x if x % 2 != sign else x
    return x, y, 1, x * y % P


def _encode(point: Point) -> bytes:
    x, y, z, _ = point
    inverse = pow(z, -1, P)
    return (y * inverse % P | (x * inverse % P % 2) << 255).to_bytes(32, "little")


def _add(one: Point, other: Point) -> Point:
    """RFC 8032, 5.1.4; holds for equal points too."""
    x1, y1, z1, t1 = one
    x2, y2, z2, t2 = other
    a = (y1 - x1) * (y2 - x2) % P
    b = (y1 + x1) * (y2 + x2) % P
    c = 2 * t1 * t2 * D % P
    d = 2 * z1 * z2 % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def _multiply(number: int, point: Point) -> Point:
    result: Point = (0, 1, 1, 0)
    while number:
        if number % 2:
            result = _add(result, point)
        point = _add(point, point)
        number >>= 1
    return result


def _base() -> Point:
    point = _decode(bytes([0x58] + [0x66] * 31))
    if point is None:
        raise ValueError("the base point is on the curve")
    return point


_BASE = _base()

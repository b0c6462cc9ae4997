"""Amounts of USDC: `Decimal` outside, whole base units inside, never a float. One USDC is 1,000,000 base units."""

import re
from decimal import Context, Decimal

BASE_UNITS_PER_USDC = 1_000_000
_U64_MAX = 2**64 - 1
_EXACT = Context(prec=26)
"""Room for every amount. The context of the caller's program may round."""
_PLAIN = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?")
"""A text as the other clients read it. Decimal also reads 1_000, 1e3 and the digits of every script."""


def to_base_units(amount: Decimal | str | int) -> int:
    """The base units of an amount in USDC. Raises ValueError unless it is exact, not negative and fits 64 bits."""
    if isinstance(amount, (bool, float)):  # A caller without type checks may still pass a float.
        raise ValueError(f"an amount of USDC must be a Decimal, a str or an int, not {type(amount).__name__}: {amount}")
    if isinstance(amount, str) and not _PLAIN.fullmatch(amount):
        raise ValueError(f"an amount of USDC must be a plain decimal such as 1.5: {amount}")
    try:
        given = Decimal(amount)
        exact = Context(prec=len(given.as_tuple().digits) + 8)
        units = given.scaleb(6, exact)
        is_whole = units == units.to_integral_value(context=exact)
    except ArithmeticError:
        raise ValueError(f"not an amount of USDC: {amount}") from None
    if not is_whole:
        raise ValueError(f"an amount of USDC has at most 6 decimal places: {amount}")
    if not 0 <= units <= _U64_MAX:
        raise ValueError(f"an amount of USDC must be from 0 to 18446744073709.551615: {amount}")
    return int(units)


def from_base_units(units: int) -> Decimal:
    """The amount in USDC of these base units, exact and without needless zeros."""
    amount = Decimal(units).scaleb(-6, _EXACT).normalize(_EXACT)
    return amount.quantize(Decimal(1), context=_EXACT) if units % BASE_UNITS_PER_USDC == 0 else amount


def format_usdc(amount: Decimal) -> str:
    """Plain decimal text, without exponent and needless zeros."""
    return format(from_base_units(to_base_units(amount)), "f")


def json_usdc(amount: Decimal | str | int) -> float | int:
    """The JSON number that reads as exactly this amount. Raises ValueError if no double does, above 10^9 USDC."""
    exact = from_base_units(to_base_units(amount))
    number = int(exact) if exact == int(exact) else float(exact)
    if Decimal(repr(number)) != exact:
        raise ValueError(f"too many digits for a JSON number: {amount}")
    return number

"""`resource.Quantity` in Python: exact arithmetic on whole nano units; results keep the amount's format (`DecimalSI`,
`BinarySI` or `DecimalExponent`)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

Format = Literal["DecimalSI", "BinarySI", "DecimalExponent"]

NANO = 10**9
"""Nano units in one unit; Kubernetes keeps nothing finer."""

_DECIMAL_SUFFIXES = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY_SUFFIXES = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_NAMES = {exponent: suffix for suffix, exponent in _DECIMAL_SUFFIXES.items()}
_BINARY_NAMES = {0: "", **{exponent: suffix for suffix, exponent in _BINARY_SUFFIXES.items()}}

_SHAPE = re.compile(r"([+-]?)0*+([0-9]*+)(?:\.([0-9]*+))?([eEinumkKMGTP]*+[+-]?+[0-9]*+)")
_EXPONENT = r"[eE]([+-]?[0-9]{1,9})"

_LARGEST_BINARY = (2**63 - 1) * NANO
"""Kubernetes' cap on amounts with a binary suffix; decimal ones have none."""

_FAST_DIGITS = 18
"""Decimal digits that always fit an int64: the limit of Kubernetes' fast path."""

_LONGEST = 200
"""Maximum characters, and powers of ten; more is refused."""


class QuantityError(ValueError):
    """The text is not a quantity; the message is for users."""


@dataclass(frozen=True, slots=True, eq=False)
class Quantity:
    """Exact amount in `nano` units, and its format; `kept` is the text if Kubernetes keeps it. Compares by amount."""

    nano: int
    format: Format = "DecimalSI"
    kept: str = ""

    def __str__(self) -> str:
        return self.kept or _written(self)

    def __add__(self, other: Quantity) -> Quantity:
        """The sum, in the left amount's format; in the right one's if the left is zero."""
        return Quantity(self.nano + other.nano, self.format if self.nano else other.format)

    def __mul__(self, times: int) -> Quantity:
        return Quantity(self.nano * times, self.format)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quantity) and self.nano == other.nano

    def __hash__(self) -> int:
        return hash(self.nano)

    def __lt__(self, other: Quantity) -> bool:
        return self.nano < other.nano

    def value(self) -> int:
        """The amount in whole units, rounded away from zero (`Quantity.Value` in Go)."""
        whole = _ceil_div(abs(self.nano), NANO)
        return whole if self.nano >= 0 else -whole


ZERO = Quantity(0)


def canonical(quantity: str | int) -> str:
    """The text that Kubernetes stores: `0.5` becomes `500m`, `1024Mi` becomes `1Gi`. Raises QuantityError."""
    return _canonical(_text(quantity))


def parse(quantity: str | int) -> Quantity:
    """A quantity in a manifest; amounts below one nano unit become one. Raises QuantityError if Kubernetes rejects
    it."""
    return _parse(_text(quantity))


def whole_units(quantity: str | int) -> int:
    """The amount in whole units, rounded as `Quantity.value`. Raises QuantityError."""
    return _value(_text(quantity))


def _text(quantity: str | int) -> str:
    if isinstance(quantity, str):
        return quantity
    # A bool is an int to Python, and printing a huge int is slow.
    if type(quantity) is int and quantity.bit_length() < _LONGEST:
        return str(quantity)
    raise QuantityError('a quantity must be a string such as "500m" or "16Gi", or a whole number')


@lru_cache(maxsize=4096)
def _canonical(text: str) -> str:
    return str(_parse(text))


@lru_cache(maxsize=4096)
def _value(text: str) -> int:
    return _parse(text).value()


@lru_cache(maxsize=4096)
def _parse(text: str) -> Quantity:
    text = text.strip()
    shape = _SHAPE.fullmatch(text) if 0 < len(text) <= _LONGEST else None
    if shape is None:
        raise QuantityError(_reason(text))
    sign, whole, fraction, suffix = shape[1], shape[2] or "0", shape[3] or "", shape[4]
    format, exponent = _suffix(text, suffix)
    read = _binary if format == "BinarySI" else _decimal
    amount, keeps_text = read(whole, fraction, exponent)
    if format == "BinarySI" and 0 < amount < NANO:
        format = "DecimalSI"
    return Quantity(-amount if sign == "-" else amount, format, text if keeps_text else "")


def _suffix(text: str, suffix: str) -> tuple[Format, int]:
    if suffix in _DECIMAL_SUFFIXES:
        return "DecimalSI", _DECIMAL_SUFFIXES[suffix]
    if suffix in _BINARY_SUFFIXES:
        return "BinarySI", _BINARY_SUFFIXES[suffix]
    exponent = re.fullmatch(_EXPONENT, suffix)
    if exponent is None or abs(int(exponent[1])) > _LONGEST:
        raise QuantityError(_reason(text))
    return "DecimalExponent", int(exponent[1])


def _decimal(whole: str, fraction: str, exponent: int) -> tuple[int, bool]:
    """The amount in nano units, and whether Kubernetes keeps the text: only if its fast path reads it and the exponent
    is one that it writes. `+1E`, `01M` and `1.5e1` stay; `1e1`, `0.5` and `1000` are rewritten."""
    digits = whole + fraction
    scale = exponent - len(fraction)
    amount = int(digits) * 10 ** (scale + 9) if scale >= -9 else _ceil_div(int(digits), 10 ** -(scale + 9))
    fast = len(digits) <= _FAST_DIGITS and scale >= -9
    keeps_text = fast and scale % 3 == 0 and not digits.endswith("000") and digits[0] != "0"
    return amount, keeps_text


def _binary(whole: str, fraction: str, exponent: int) -> tuple[int, bool]:
    """`_decimal` for binary suffixes; `1Ei` is too large for the fast path, so `+1Ei` is rewritten."""
    number = int(whole + fraction) << exponent
    amount = min(_ceil_div(number * NANO, 10 ** len(fraction)), _LARGEST_BINARY)
    fast = not fraction and len(whole) + exponent * 3 // 10 <= 14
    return amount, fast and int(whole) % 8 != 0


def _ceil_div(number: int, divisor: int) -> int:
    return -(-number // divisor)


def _written(quantity: Quantity) -> str:
    if not quantity.nano:
        return "0"
    # Binary suffixes start at 1024 and cannot hold fractions.
    if quantity.format == "BinarySI" and abs(quantity.nano) >= 1024 * NANO and not quantity.nano % NANO:
        number, times = _factored(quantity.nano // NANO, 1024)
        return f"{number}{_BINARY_NAMES.get(10 * times, '')}"
    number, times = _factored(quantity.nano, 1000)
    exponent = 3 * times - 9
    if quantity.format == "DecimalExponent":
        return f"{number}e{exponent}" if exponent else str(number)
    # Kubernetes drops a suffix that it has no name for (`1000E` becomes `1`); so do we.
    return f"{number}{_DECIMAL_NAMES.get(exponent, '')}"


def _factored(number: int, factor: int) -> tuple[int, int]:
    """`(rest, times)` with `number == rest * factor**times` and the largest `times`."""
    times = 0
    while not number % factor:
        number //= factor
        times += 1
    return number, times


def _reason(text: str) -> str:
    """Why a text is not a quantity, with the nearest valid text."""
    if not text:
        return "an empty string is not a quantity"
    if len(text) > _LONGEST:
        return f"a quantity must have at most {_LONGEST} characters"
    nearest = _nearest(text) or "a number with one of the suffixes m, k, M, G, T, Ki, Mi, Gi, Ti, or none"
    return f'"{text}" is not a quantity; write {nearest}'


def _nearest(text: str) -> str:
    """Suggestions for a wrong case or a trailing `b`: `"1Gi" or "1G"` for `1GB` and `1gi`."""
    unit = re.fullmatch(r"([+-]?[0-9]+(?:\.[0-9]+)?) ?([kKmMgGtTpP])([iI]?)[bB]?", text)
    if unit is None:
        return ""
    number, letter, binary = unit.groups()
    decimal = "k" if letter in "kK" else letter.upper()
    suffixes = [f"{letter.upper()}i"] if binary else [f"{letter.upper()}i", decimal]
    return " or ".join(f'"{number}{suffix}"' for suffix in suffixes)

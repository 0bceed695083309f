"""Plain YAML scalars as Kubernetes reads them: by way of a fork of go-yaml v2 and JSON,
https://github.com/kubernetes-sigs/yaml. YAML 1.1 booleans, C-like integers with underscores, integral floats as
integers, no base 60, no dates."""

from __future__ import annotations

import math
import re
import struct
from functools import lru_cache

Scalar = str | int | float | bool | None

STRING_TAG = "tag:yaml.org,2002:str"
_WORDS: dict[str, Scalar] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
}
_INTEGER = re.compile(r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|([1-9][0-9]*|0))")
_BASES = (16, 2, 8, 10)
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_STRAY_UNDERSCORE = r"(?<![0-9])_|_(?![0-9])"

FIRST_CHARACTERS = frozenset(["", *"0123456789+-._=<~yYnNtTfFoO"])
"""First characters of plain scalars that some parser could read as something other than a string."""

_READ_DIFFERENTLY = re.compile(
    r"""[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?   # base 60: 22:22
    | [0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt \t].*)?         # dates and times
    | [-+]?(?:[0-9][0-9_]*+(?:\.[0-9_]*+)?|\.[0-9][0-9_]*+)(?:[eE][-+]?[0-9_]+)?   # numbers too large for Go
    | [-+]?0[xobXOB][0-9a-fA-F_]+
    | [-+]?_[0-9_]+
    | = | <<""",
    re.VERBOSE,
)
"""Possessive repetitions (`*+`) keep this linear in the length of the text, which may be that of a whole file."""


@lru_cache(maxsize=8192)
def suspicious(text: str) -> tuple[Scalar] | None:
    """The value of a plain scalar that starts with one of `FIRST_CHARACTERS`: None for a string in every YAML parser,
    else the value in a tuple. A string in a tuple is read differently by other parsers. The caller must reject
    infinities and NaN, which JSON lacks."""
    value = read_plain(text)
    if type(value) is str and not _READ_DIFFERENTLY.fullmatch(text):
        return None
    return (value,)


def read_plain(text: str) -> Scalar:
    """The value of an untagged plain scalar."""
    if text in _WORDS:
        return _WORDS[text]
    number = _read_number(text) if text[0] in "0123456789+-." else None
    return text if number is None else number


def _read_number(text: str) -> int | float | None:
    # After a leading point, Go allows underscores between digits only; elsewhere it drops them.
    if text[0] == "." and re.search(_STRAY_UNDERSCORE, text):
        return None
    digits = text.replace("_", "")
    if (match := _INTEGER.fullmatch(digits)) and (integer := _read_integer(match)) is not None:
        return integer
    if _FLOAT.fullmatch(digits) and math.isfinite(number := float(digits)):
        return _json_number(number)
    return None


def _read_integer(match: re.Match[str]) -> int | None:
    """A Go int64 or uint64, or None if out of range."""
    sign, *groups = match.groups()
    base, digits = next((base, text) for base, text in zip(_BASES, groups, strict=True) if text)
    if len(digits) > 64:  # out of range, and Python refuses to read thousands of digits
        return None
    value = int(digits, base)
    if sign == "-":
        return -value if value <= 2**63 else None
    if value < 2**63:
        return value
    return int(_json_number(float(value))) if value < 2**64 and not sign else None


def _json_number(number: float) -> int | float:
    """A float after Go's JSON round trip: an integer if Go prints it as one."""
    if not number.is_integer() or abs(number) >= 1e21:
        return number
    if abs(number) < 1e16:
        return int(number)
    from decimal import Decimal  # rare: Go prints the shortest digits, padded with zeros

    return int(Decimal(repr(number)))


def read_tagged(tag: str, text: str) -> Scalar:
    """The value of a scalar with an explicit tag (unknown ones count as `!!str`); ValueError if the text does not
    fit."""
    name = tag.removeprefix("tag:yaml.org,2002:")
    if name == "binary":
        return _read_binary(text)
    expected = _TAGGED_TYPES.get(name)
    if expected is None:
        return text
    value = read_plain(text)
    if type(value) not in expected or (name == "float" and value is None):
        raise ValueError(f"{text!r} is not of type !!{name}")
    return value


_TAGGED_TYPES: dict[str, tuple[type, ...]] = {
    "bool": (bool,),
    "int": (int,),
    "float": (float, int),
    "null": (type(None),),
}
_OTHER_TAGS = ("str", "binary", "timestamp", "map", "seq", "set")
KNOWN_TAGS = frozenset(f"tag:yaml.org,2002:{name}" for name in (*_TAGGED_TYPES, *_OTHER_TAGS))


def _read_binary(text: str) -> str:
    from base64 import b64decode

    return b64decode("".join(text.split()), validate=True).decode("utf-8", errors="replace")


def key_text(value: Scalar) -> str | None:
    """A mapping key as in JSON; None for null, which Kubernetes rejects."""
    if isinstance(value, str) or value is None:
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else _float_key(value)


def _float_key(value: float) -> str:
    """Go's shortest 32-bit form (`FormatFloat(value, 'g', -1, 32)`); infinities as in the source."""
    if not math.isfinite(value):
        return ".nan" if math.isnan(value) else ".inf" if value > 0 else "-.inf"
    try:
        narrow = struct.pack("f", value)
    except OverflowError:
        return ".inf" if value > 0 else "-.inf"
    texts = (f"{value:.{digits}e}" for digits in range(9))
    text = next(text for text in texts if struct.pack("f", float(text)) == narrow)
    return repr(float(text)).removesuffix(".0") if -4 <= int(text.partition("e")[2]) < 6 else text

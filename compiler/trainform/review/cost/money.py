"""Amounts of money, and how they are written. Amounts per hour are rounded half up; what is an upper bound, up."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

_HALF = Fraction(1, 2)
_PLACES = 6
"""Most decimal places for programs."""


@dataclass(frozen=True, slots=True)
class Range:
    """An amount of money between two bounds, which are equal if it is known."""

    low: Fraction
    high: Fraction

    def __add__(self, other: Range) -> Range:
        return Range(self.low + other.low, self.high + other.high)

    def __sub__(self, other: Range) -> Range:
        """The difference at the lower bounds, and at the upper ones."""
        return Range(self.low - other.low, self.high - other.high)

    def __mul__(self, times: int | Fraction) -> Range:
        return Range(self.low * times, self.high * times)

    def __or__(self, other: Range) -> Range:
        """The range that holds both."""
        return Range(min(self.low, other.low), max(self.high, other.high))

    def __str__(self) -> str:
        """`32.00` or `32.00–64.00`."""
        return "–".join(dict.fromkeys(map(written, (self.low, self.high))))

    def to_json(self) -> dict[str, str]:
        return {"min": exact(self.low), "max": exact(self.high)}


NOTHING = Range(Fraction(), Fraction())


@dataclass(frozen=True, slots=True)
class Cost:
    """What a job costs: `hourly` while all its pods run, and `run` at most from its start to its deadline, with all
    restarts; None if no deadline bounds that."""

    currency: str
    hourly: Range
    run: Fraction | None = None

    def __add__(self, other: Cost) -> Cost:
        """The cost of two jobs with the same currency."""
        run = None if self.run is None or other.run is None else self.run + other.run
        return Cost(self.currency, self.hourly + other.hourly, run)

    def __or__(self, other: Cost) -> Cost:
        """The cost that holds both, of one job."""
        run = None if self.run is None or other.run is None else max(self.run, other.run)
        return Cost(self.currency, self.hourly | other.hourly, run)

    @property
    def bound(self) -> str:
        """The upper bound of a run; empty if there is none."""
        return "" if self.run is None else written(self.run, upwards=True)

    def cells(self) -> tuple[str, str]:
        """Per hour and per run."""
        return f"{self.hourly} {self.currency}", f"{self.bound} {self.currency}" if self.bound else ""

    def __str__(self) -> str:
        """`32.00 USD per hour, at most 768.00 USD per run`."""
        hourly, run = self.cells()
        return f"{hourly} per hour" + (f", at most {run} per run" if run else "")

    def to_json(self) -> dict[str, Any]:
        bound = {} if self.run is None else {"perRunAtMost": exact(self.run, upwards=True)}
        return {"currency": self.currency, "perHour": self.hourly.to_json(), **bound}


class Sums(dict[str, Range]):
    """Totals per hour by currency, which are never added up."""

    @classmethod
    def of(cls, costs: Iterable[Cost | None]) -> Sums:
        """The sums of the costs that are known."""
        found = cls()
        for cost in filter(None, costs):
            found[cost.currency] = found.get(cost.currency, NOTHING) + cost.hourly
        return found

    def __str__(self) -> str:
        return ", ".join(f"{self[currency]} {currency}" for currency in sorted(self))


def written(value: Fraction, *, upwards: bool = False) -> str:
    """`1,234.50`; `<0.01` for less that is not nothing."""
    cents = _rounded(value * 100, upwards)
    return "<0.01" if value > 0 and not cents else f"{cents // 100:,}.{cents % 100:02}"


def signed(change: Range) -> str:
    """`+16.00`, or `+16.00 to +32.00`."""
    ends = (f"{'-' if value < 0 else '+'}{written(abs(value))}" for value in (change.low, change.high))
    return " to ".join(dict.fromkeys(ends))


def exact(value: Fraction, *, upwards: bool = False) -> str:
    """A plain decimal for programs, with two to six places: `1234.50`."""
    number = _rounded(abs(value) * 10**_PLACES, upwards)
    whole, rest = divmod(number, 10**_PLACES)
    return f"{'-' if value < 0 and number else ''}{whole}.{f'{rest:0{_PLACES}}'.rstrip('0').ljust(2, '0')}"


def _rounded(value: Fraction, upwards: bool) -> int:
    return math.ceil(value) if upwards else math.floor(value + _HALF)

"""Pictures as SVG, readable on light and on dark pages: lines on two logarithmic axes, and bars."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from xml.sax.saxutils import escape

WIDTH, LINE = 760, 30
LEFT, RIGHT, TOP, BOTTOM = 70, 220, 36, 50
BAR_LEFT, BAR_RIGHT, BAR_TOP = 270, 90, 20
COLOURS = ["#0969da", "#bc4c00", "#1a7f37", "#8250df", "#bf3989", "#6e7781"]
DARK = ["#58a6ff", "#f0883e", "#3fb950", "#bc8cff", "#f778ba", "#8b949e"]

Points = Sequence[tuple[float, float]]


def lines(series: Mapping[str, Points], across: str, up: str) -> str:
    """A line for each of `series`, whose points are (across, up), both positive; each is named at its end."""
    points = [point for each in series.values() for point in each]
    if not points:
        return _svg(LINE, [])
    height = 420
    left, right = _decades([x for x, _ in points])
    low, high = _decades([y for _, y in points])

    def x_of(value: float) -> float:
        return LEFT + (math.log10(value) - left) / (right - left) * (WIDTH - LEFT - RIGHT)

    def y_of(value: float) -> float:
        return height - BOTTOM - (math.log10(value) - low) / (high - low) * (height - TOP - BOTTOM)

    def grid() -> Iterator[str]:
        for power in range(left, right + 1):
            x = x_of(10**power)
            yield f'<path class="grid" d="M{x:.1f} {TOP}V{height - BOTTOM}"/>'
            yield _text(x, height - BOTTOM + 18, f"{10**power:,}", "middle")
        for power in range(low, high + 1):
            y = y_of(10**power)
            yield f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>'
            yield _text(LEFT - 8, y + 4, f"{10**power:g}", "end")
        yield _text((LEFT + WIDTH - RIGHT) / 2, height - 12, across, "middle")
        yield _text(10, TOP - 16, up, "start")

    def curves() -> Iterator[str]:
        ends = _apart([y_of(each[-1][1]) for each in series.values()])
        for number, ((name, each), label) in enumerate(zip(series.items(), ends, strict=True)):
            colour = number % len(COLOURS)
            places = [(x_of(x), y_of(y)) for x, y in each]
            path = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
            yield f'<path class="line s{colour}" d="M{path}"/>'
            yield from (f'<circle class="f{colour}" cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>' for x, y in places)
            x, y = places[-1]
            yield f'<path class="lead s{colour}" d="M{x:.1f} {y:.1f}L{WIDTH - RIGHT + 12} {label:.1f}"/>'
            yield _text(WIDTH - RIGHT + 16, label + 4, name, "start", f"f{colour}")

    return _svg(height, [*grid(), *curves()])


def bars(values: Mapping[str, float], unit: str) -> str:
    """A bar for each value, the first of which stands out; longer is more."""
    most = max(values.values(), default=1)
    drawn = []
    for number, (name, value) in enumerate(values.items()):
        y = BAR_TOP + number * LINE
        length = value / most * (WIDTH - BAR_LEFT - BAR_RIGHT)
        colour = "f0" if number == 0 else "f5"
        drawn.append(_text(BAR_LEFT - 10, y + 15, name, "end"))
        drawn.append(f'<rect class="{colour}" x="{BAR_LEFT}" y="{y}" width="{length:.1f}" height="20" rx="3"/>')
        drawn.append(_text(BAR_LEFT + length + 8, y + 15, f"{value:,.0f} {unit}", "start"))
    return _svg(BAR_TOP * 2 + len(values) * LINE, drawn)


def _decades(values: Sequence[float]) -> tuple[int, int]:
    """The powers of ten around some values, at least one apart."""
    low, high = math.floor(math.log10(min(values)) + 1e-9), math.ceil(math.log10(max(values)) - 1e-9)
    return low, max(high, low + 1)


def _apart(places: Sequence[float], least: float = 17) -> list[float]:
    """Places of labels, moved down where they would overlap."""
    moved = list(places)
    order = sorted(range(len(places)), key=lambda index: places[index])
    for before, after in itertools.pairwise(order):
        moved[after] = max(moved[after], moved[before] + least)
    return moved


def _text(x: float, y: float, text: str, anchor: str, colour: str = "text") -> str:
    return f'<text class="{colour}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _svg(height: int, parts: Sequence[str]) -> str:
    light = _style("#ffffff", "#1f2328", "#d1d9e0", COLOURS)
    dark = _style("#0d1117", "#e6edf3", "#30363d", DARK)
    style = (
        f"text{{font:13px system-ui,sans-serif}}.line{{fill:none;stroke-width:2}}.lead{{fill:none;opacity:.4}}"
        f"{light}@media(prefers-color-scheme:dark){{{dark}}}"
    )
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}">'
    back = f'<rect class="back" width="{WIDTH}" height="{height}" rx="6"/>'
    return "\n".join([head, f"<style>{style}</style>", back, *parts, "</svg>"]) + "\n"


def _style(back: str, text: str, grid: str, colours: Sequence[str]) -> str:
    of_series = "".join(
        f".s{number}{{stroke:{colour}}}.f{number}{{fill:{colour}}}" for number, colour in enumerate(colours)
    )
    return f".back{{fill:{back}}}.text{{fill:{text}}}.grid{{stroke:{grid};fill:none}}{of_series}"

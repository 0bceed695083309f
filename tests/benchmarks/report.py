"""What a run has found: for the terminal, for other programs, and for docs/performance.md."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import jinja2

from benchmarks import engines, fleet, peers, pictures, profile, starts
from benchmarks.install import FOLDER, PROJECT
from benchmarks.marks import IN_PROCESS, PROCESSES, Verdict
from benchmarks.measure import REFERENCE, Figures, Taken

DOCS = PROJECT / "docs"
PAGE = DOCS / "performance.md"
BEGIN, END = "<!-- figures: begin. `./dev bench --write-docs` writes what follows -->\n", "<!-- figures: end -->\n"

Table = list[list[str]]


@dataclass(frozen=True, slots=True)
class Result:
    """A run. `missing`: peers that could not be had, and why; `scratch`: the kind of place that files were in."""

    figures: Figures
    verdicts: list[Verdict]
    missing: Mapping[str, str]
    machine: Mapping[str, str]
    rounds: Mapping[int, int]
    scratch: str

    @property
    def sizes(self) -> list[int]:
        return sorted(int(group.removeprefix("mixed-")) for group in self.figures if group.startswith("mixed-"))

    @property
    def torch(self) -> dict[str, Taken]:
        """trainform and its peers, on torch jobs."""
        return next((taken for group, taken in self.figures.items() if group.startswith("torch-")), {})

    @property
    def torch_jobs(self) -> int:
        return next((int(group.removeprefix("torch-")) for group in self.figures if group.startswith("torch-")), 0)


def as_document(result: Result) -> dict[str, object]:
    """The run for other programs: seconds and bytes."""
    return {
        "machine": dict(result.machine),
        "files": result.scratch,
        "rounds": {str(jobs): rounds for jobs, rounds in result.rounds.items()},
        "missing": dict(result.missing),
        "marks": [
            {"mark": each.mark.what, "bound": each.mark.bound, "atLeast": each.mark.at_least, "unit": each.mark.unit}
            | {"measured": each.measured, "met": each.met}
            for each in result.verdicts
        ],
        "figures": {
            group: {name: asdict(each) for name, each in taken.items()} for group, taken in result.figures.items()
        },
    }


def write_results(result: Result, path: Path = FOLDER / "results.json") -> None:
    path.write_text(json.dumps(as_document(result), indent=2) + "\n")


def as_text(result: Result) -> str:
    """Every table, for a terminal."""
    named = [
        ("targets", marks_table(result)),
        *((f"mixed jobs: {title}", fleet_table(result, column)) for title, column in COLUMNS.items()),
        (f"{result.torch_jobs:,} torch jobs", peers_table(result)),
        ("what engines pay", engines_table(result)),
        ("single processes", starts_table(result)),
        ("in process", compile_table(result)),
        ("imports", imports_table(result)),
        ("phases", phases_table(result)),
    ]
    parts = [f"{title}\n{_aligned(table)}" for title, table in named if len(table) > 1]
    parts += [f"not measured: {name}: {why}" for name, why in result.missing.items()]
    parts.append(
        ", ".join(f"{name} {value}" for name, value in result.machine.items()) + f"; files in {result.scratch}"
    )
    return "\n\n".join(parts) + "\n"


def write_docs(result: Result) -> None:
    """The part of docs/performance.md between its marks, the pictures, and docs/performance.json."""
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    text = templates.get_template("performance.md.j2").render(
        result=result,
        marks=_markdown(marks_table(result)),
        fleet={title: _markdown(fleet_table(result, column)) for title, column in COLUMNS.items()},
        peers=_markdown(peers_table(result)),
        engines=_markdown(engines_table(result)),
        starts=_markdown(starts_table(result)),
        compile=_markdown(compile_table(result)),
        imports=_markdown(imports_table(result)),
        phases=_markdown(phases_table(result)),
    )
    PAGE.write_text(between_marks(PAGE.read_text(), text))
    write_results(result, DOCS / "performance.json")
    folder = DOCS / "pictures"
    folder.mkdir(exist_ok=True)
    (folder / "time-per-job.svg").write_text(pictures.lines(time_per_job(result), "jobs", "ms per job"))
    (folder / "peers.svg").write_text(pictures.bars(peer_times(result), "ms"))


def between_marks(page: str, text: str) -> str:
    """The page with `text` in place of what it has between its two marks."""
    before, _, rest = page.partition(BEGIN)
    _, mark, after = rest.partition(END)
    if not mark:
        raise ValueError(f"{PAGE.name} has lost the marks around its figures")
    return f"{before}{BEGIN}{text}{END}{after}"


def time_per_job(result: Result) -> dict[str, list[tuple[float, float]]]:
    """Of each command the milliseconds per job, by number of jobs."""
    commands = [
        fleet.COLD,
        fleet.CHECK,
        fleet.VALIDATE,
        fleet.NO_CHANGE_UNPROVEN,
        fleet.NO_CHANGE,
        fleet.ONE_JOB_RENDER,
        fleet.ONE_JOB_DIFF,
    ]
    return {
        name: [(jobs, result.figures[f"mixed-{jobs}"][name].wall * 1_000 / jobs) for jobs in result.sizes]
        for name in commands
    }


def peer_times(result: Result) -> dict[str, float]:
    return {name: taken.wall * 1_000 for name, taken in result.torch.items() if name != REFERENCE}


def marks_table(result: Result) -> Table:
    return [["target", "bound", "measured", ""], *map(_mark_row, result.verdicts)]


def _mark_row(verdict: Verdict) -> list[str]:
    mark = verdict.mark
    bound = f"{'≥' if mark.at_least else '≤'} {mark.bound:g} {mark.unit}"
    if verdict.measured is None:
        return [mark.what, bound, "not measured", ""]
    return [mark.what, bound, f"{_three_digits(verdict.measured)} {mark.unit}", "met" if verdict.met else "not met"]


def _three_digits(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


COLUMNS: dict[str, Callable[[Taken], str]] = {
    "wall time": lambda taken: seconds(taken.wall),
    "CPU time": lambda taken: seconds(taken.cpu),
    "peak memory": lambda taken: megabytes(taken.memory),
}


def fleet_table(result: Result, column: Callable[[Taken], str]) -> Table:
    """A row for each command, a column for each number of jobs."""
    groups = [result.figures[f"mixed-{jobs}"] for jobs in result.sizes]
    names = dict.fromkeys(name for group in groups for name in group)
    rows = [[name, *(column(group[name]) for group in groups)] for name in names]
    return [["jobs", *(f"{jobs:,}" for jobs in result.sizes)], *rows]


def peers_table(result: Result) -> Table:
    cold = result.torch.get(peers.RENDER)
    rows = [
        [*_row(name, taken), f"{taken.wall / cold.wall:.2f} x" if cold and name != REFERENCE else ""]
        for name, taken in result.torch.items()
    ]
    return [["", *COLUMNS, "relative to trainform"], *rows]


def starts_table(result: Result) -> Table:
    taken = result.figures.get(PROCESSES, {})
    python = taken.get(starts.PYTHON)
    rows = [
        [*_row(name, each), f"{(each.wall - python.wall) * 1_000:+.0f} ms" if python else ""]
        for name, each in taken.items()
        if name != REFERENCE
    ]
    return [["", *COLUMNS, "minus python"], *rows]


def compile_table(result: Result) -> Table:
    taken = result.figures.get(IN_PROCESS, {})
    rows = [[name, f"{each.wall * 1_000:.3f} ms"] for name, each in taken.items() if name != REFERENCE]
    return [["from parsed documents to objects", "per job"], *rows]


def engines_table(result: Result) -> Table:
    rows = []
    for name, taken in result.figures.items():
        if name.startswith(engines.group(0)[:-1]):
            jobs = int(name.rpartition("-")[2])
            for each, cpu in engines.per_job(taken, jobs).items():
                wall = seconds(taken[each].wall) if each in taken else ""
                rows.append([f"{each}, {jobs:,} jobs", wall, f"{cpu * 1_000:.2f} ms"])
    return [["one refresh of all namespaces", "wall", "CPU per job"], *rows]


def imports_table(result: Result) -> Table:
    taken = result.figures.get(profile.START, {})
    rows = [[name, f"{each.wall * 1_000:.1f} ms"] for name, each in taken.items()]
    return [["imports of one process, by package", ""], *rows, *_sum(taken, 1_000, "ms")]


def phases_table(result: Result) -> Table:
    taken = result.figures.get(profile.JOB, {})
    rows = [[name, f"{each.wall * 1e6:.1f} µs"] for name, each in taken.items()]
    return [["one torch job of many, by phase", ""], *rows, *_sum(taken, 1e6, "µs")]


def _sum(taken: Mapping[str, Taken], scale: float, unit: str) -> Table:
    return [["total", f"{sum(each.wall for each in taken.values()) * scale:.1f} {unit}"]] if taken else []


def _row(name: str, taken: Taken) -> list[str]:
    return [name, *(column(taken) for column in COLUMNS.values())]


def seconds(value: float) -> str:
    """Seconds, as milliseconds where they are few."""
    return f"{value:,.1f} s" if value >= 10 else f"{value * 1_000:,.0f} ms"


def megabytes(value: int) -> str:
    return f"{value / 1e6:,.0f} MB"


def _markdown(table: Table) -> str:
    head, *rows = table
    lines = [head, ["---", *["--:"] * (len(head) - 1)], *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines) if rows else ""


def _aligned(table: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return "\n".join(_aligned_row(row, widths) for row in table)


def _aligned_row(row: Iterable[str], widths: Sequence[int]) -> str:
    first, *rest = zip(row, widths, strict=True)
    cells = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in rest)]
    return "  " + "  ".join(cells).rstrip()

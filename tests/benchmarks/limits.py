"""The check of CI: ratios within one run, held against those of limits.json, which people review.

CPU time against a fixed loop in plain Python shows work that was added, even on a busy machine. Wall time against
kustomize shows what a user feels. Time for ten times as many jobs shows what does not grow in step.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import fleet, peers, starts
from benchmarks.marks import IN_PROCESS, PROCESSES, mixed
from benchmarks.measure import REFERENCE, Figures, Taken

FILE = Path(__file__).with_name("limits.json")
TOLERANCE, TOLERANCE_OF_GROWTH, TOLERANCE_OF_MEMORY = 2.2, 1.8, 1.6
GROWTH = ": CPU per job"
NEEDS_A_PEER = " / kustomize"
PEERS = {peers.KUSTOMIZE, peers.OVERLAY, peers.HELM, peers.JSONNET}
GROW = [fleet.COLD, fleet.NO_CHANGE_UNPROVEN, fleet.VALIDATE, fleet.CHECK, fleet.ONE_JOB_DIFF]

Ratios = dict[str, float]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Lines to print: `failures` make the check fail, `notes` do not."""

    failures: list[str]
    notes: list[str]


def ratios(figures: Figures) -> Ratios:
    """Every ratio that a limit may be set for. Of mixed jobs: of the largest repository, and what growth costs. A
    profile has no reference loop beside it, and no limits."""
    sizes = sorted(int(group.removeprefix("mixed-")) for group in figures if group.startswith("mixed-"))
    smaller = {mixed(jobs) for jobs in sizes[:-1]}
    groups = {group: taken for group, taken in figures.items() if group not in smaller and REFERENCE in taken}
    found = dict(pair for group, taken in groups.items() for pair in _of_group(group, taken))
    return {**found, **(dict(_growth(figures, sizes[0], sizes[-1])) if smaller else {})}


def _of_group(group: str, taken: Mapping[str, Taken]) -> Iterator[tuple[str, float]]:
    of_python = group == PROCESSES
    base, title = (taken[starts.PYTHON], starts.PYTHON) if of_python else (taken[REFERENCE], REFERENCE)
    for name, each in taken.items():
        if name in PEERS or name in (REFERENCE, starts.PYTHON):
            continue
        yield f"{group}: {name}, CPU / {title}", each.cpu / base.cpu if of_python else each.loops
        if each.memory:
            yield f"{group}: {name}, memory / {title}", each.memory / base.memory
    if peers.KUSTOMIZE in taken:
        wall = taken[peers.RENDER].wall / taken[peers.KUSTOMIZE].wall
        yield f"{group}: {peers.RENDER}, wall{NEEDS_A_PEER}", wall


def _growth(figures: Figures, few: int, many: int) -> Iterator[tuple[str, float]]:
    """CPU for each job of the largest repository, against that of the smallest; both in loops that ran beside them."""
    for name in GROW:
        small, large = (figures[mixed(size)][name].loops / size for size in (few, many))
        yield f"{name}{GROWTH}, {many} / {few} jobs", large / small


def hold(found: Ratios, limits: Mapping[str, float]) -> Outcome:
    """Holds the ratios of a run against limits. A limit whose ratio is gone fails, too, but where a peer is missing."""
    failures, notes = [], []
    for name, limit in limits.items():
        if name not in found and name.endswith(NEEDS_A_PEER):
            notes.append(f"{name}: not measured, for want of kubectl; the reference loop stands in for it")
        elif name not in found:
            failures.append(f"{name}: has a limit, but was not measured")
        elif found[name] > limit:
            failures.append(f"{name}: {found[name]:.3g} is over the limit of {limit:.3g}")
    notes += [f"{name}: {ratio:.3g}, without a limit" for name, ratio in found.items() if name not in limits]
    return Outcome(failures, notes)


def parts(failures: Sequence[str]) -> list[str]:
    """The parts of a run that measure what failed."""
    of_group = {PROCESSES: "starts", IN_PROCESS: "starts", "torch-": "peers"}
    found = [
        next((of_group[group] for group in of_group if failure.startswith(group)), "mixed") for failure in failures
    ]
    return sorted(set(found))


def read_limits() -> dict[str, float]:
    limits: dict[str, float] = json.loads(FILE.read_text())
    return limits


def write_limits(found: Ratios) -> None:
    """Sets every limit to what was measured, times a tolerance: on a quiet machine, for people to review."""
    limits = {name: float(f"{ratio * _tolerance(name):.3g}") for name, ratio in sorted(found.items())}
    FILE.write_text(json.dumps(limits, indent=2) + "\n")


def _tolerance(name: str) -> float:
    if GROWTH in name:
        return TOLERANCE_OF_GROWTH
    return TOLERANCE_OF_MEMORY if ", memory / " in name else TOLERANCE

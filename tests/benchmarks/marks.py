"""What the figures should be on a machine of two cores, and what they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks import engines, fleet, peers, starts
from benchmarks.measure import REFERENCE, Figures, Taken

PROCESSES, IN_PROCESS = "processes", "in process"


def mixed(jobs: int) -> str:
    return f"mixed-{jobs}"


def torch(jobs: int) -> str:
    return f"torch-{jobs}"


@dataclass(frozen=True, slots=True)
class Mark:
    """A value that should be at most, or at least, `bound`. `measure` raises KeyError where figures are missing."""

    what: str
    bound: float
    unit: str
    measure: Callable[[Figures], float]
    at_least: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """A mark and what was measured; `met` is None where it was not."""

    mark: Mark
    measured: float | None = None
    met: bool | None = None


def judge(mark: Mark, figures: Figures) -> Verdict:
    try:
        measured = mark.measure(figures)
    except KeyError:
        return Verdict(mark)
    met = measured >= mark.bound if mark.at_least else measured <= mark.bound
    return Verdict(mark, measured, met)


def _times_faster(peer: str) -> Callable[[Figures], float]:
    """How many times longer the peer takes for 1,000 torch jobs."""

    def measure(figures: Figures) -> float:
        group = figures[torch(1_000)]
        return group[peer].wall / group[peers.RENDER].wall

    return measure


def _per_job(name: str, many: int, few: int) -> Callable[[Figures], float]:
    """Wall time for each of `many` jobs, over that for each of `few`."""

    def measure(figures: Figures) -> float:
        return figures[mixed(many)][name].wall / many / (figures[mixed(few)][name].wall / few)

    return measure


def _share_of_cold(name: str, jobs: int) -> Callable[[Figures], float]:
    return lambda figures: figures[mixed(jobs)][name].wall / figures[mixed(jobs)][fleet.COLD].wall


def _over_dearest(name: str, others: Sequence[str], jobs: int) -> Callable[[Figures], float]:
    """Wall time over that of the slowest of the others."""
    return lambda figures: figures[mixed(jobs)][name].wall / max(figures[mixed(jobs)][each].wall for each in others)


def _seconds(name: str, jobs: int) -> Callable[[Figures], float]:
    return lambda figures: figures[mixed(jobs)][name].wall


def _above_python(name: str) -> Callable[[Figures], float]:
    """Milliseconds of a process above those of `python -c pass`."""

    def measure(figures: Figures) -> float:
        return (figures[PROCESSES][name].wall - figures[PROCESSES][starts.PYTHON].wall) * 1_000

    return measure


def _engine_per_job(name: str, jobs: int, start: str = "") -> Callable[[Figures], float]:
    """Milliseconds for each job that an engine reads, without those of starting."""

    def measure(figures: Figures) -> float:
        taken = figures[engines.group(jobs)]
        return (taken[name].wall - (taken[start].wall if start else 0)) / jobs * 1_000

    return measure


def _peak_memory(jobs: int) -> Callable[[Figures], float]:
    """MB of the largest process of any command."""

    def of_trainform(figures: Figures) -> list[Taken]:
        return [taken for name, taken in figures[mixed(jobs)].items() if name != REFERENCE]

    return lambda figures: max(taken.memory for taken in of_trainform(figures)) / 1e6


MARKS = [
    Mark("render 1,000 jobs, cold: speedup over kustomize", 10, "x", _times_faster(peers.KUSTOMIZE), at_least=True),
    Mark("render 1,000 jobs, cold: speedup over helm", 1, "x", _times_faster(peers.HELM), at_least=True),
    Mark("cold render, time per job: 100,000 jobs relative to 1,000", 1.1, "x", _per_job(fleet.COLD, 100_000, 1_000)),
    Mark("check, time per job: 100,000 jobs relative to 1,000", 1.1, "x", _per_job(fleet.CHECK, 100_000, 1_000)),
    Mark("render 10,000 jobs, nothing changed: relative to cold", 0.1, "x", _share_of_cold(fleet.NO_CHANGE, 10_000)),
    Mark("100,000 jobs, one changed: render", 5, "s", _seconds(fleet.ONE_JOB_RENDER, 100_000)),
    Mark("100,000 jobs, one changed: check --base HEAD", 5, "s", _seconds(fleet.ONE_JOB_CHECK, 100_000)),
    Mark("100,000 jobs, one changed: diff", 5, "s", _seconds(fleet.ONE_JOB_DIFF, 100_000)),
    Mark(
        "10,000 jobs, one changed: ci, relative to the slowest of validate, check and diff",
        1.2,
        "x",
        _over_dearest(fleet.CI, (fleet.CI_VALIDATE, fleet.CI_CHECK, fleet.CI_DIFF), 10_000),
    ),
    Mark(
        "compile one torch job, in process",
        0.2,
        "ms",
        lambda figures: figures[IN_PROCESS][starts.COMPILE].wall * 1_000,
    ),
    Mark("10,000 jobs in 100 namespaces: Argo CD's read, per job", 2, "ms", _engine_per_job(engines.PLAIN, 10_000)),
    Mark(
        "10,000 jobs in 100 namespaces: Flux's builds, per job",
        2,
        "ms",
        _engine_per_job(engines.FLUX, 10_000, engines.START),
    ),
    Mark("100,000 jobs: peak memory per process", 300, "MB", _peak_memory(100_000)),
    Mark("trainform --version, minus python -c pass", 50, "ms", _above_python(starts.VERSION)),
    Mark("trainform --help, minus python -c pass", 70, "ms", _above_python(starts.HELP)),
    Mark("render one job from stdin, minus python -c pass", 150, "ms", _above_python(starts.ONE_JOB)),
]


def judge_all(figures: Figures) -> list[Verdict]:
    return [judge(mark, figures) for mark in MARKS]

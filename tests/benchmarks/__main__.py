"""`./dev bench`: measures, prints, and holds against limits."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks import engines, limits, peers, report
from benchmarks.fleet import COLD_RENDERS, Fleet
from benchmarks.install import Peers, find_peers, install_trainform
from benchmarks.machine import bytes_needed, facts, scratch_parent
from benchmarks.marks import IN_PROCESS, PROCESSES, judge_all, mixed, torch
from benchmarks.measure import Bench, Figures, best, tell
from benchmarks.profile import measure_profile
from benchmarks.starts import measure_compile, measure_starts

PARTS = ("starts", "peers", "engines", "mixed")


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured: numbers of mixed jobs, number of torch jobs for the peers, number of jobs that engines
    read, rounds of processes."""

    jobs: tuple[int, ...]
    torch_jobs: int
    engine_jobs: int
    starts: int


SIZES = {
    "small": Size((300, 3_000), 300, 300, 10),
    "full": Size((100, 1_000, 10_000, 100_000), 1_000, 10_000, 30),
}

RETRIES = 3
"""How often a run that is over a limit is measured again: where a machine's speed halves for a minute, what is measured
then is slow, and the loop beside it may not be."""


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    size = SIZES[options.size]
    jobs = options.jobs or size.jobs
    rounds = {number: options.rounds or _rounds(number, options.size) for number in (*jobs, size.torch_jobs)}
    needed = bytes_needed([*rounds.items()], len(COLD_RENDERS)) if "mixed" in options.only else 0
    parent, kind = (options.scratch, "a folder that was named") if options.scratch else scratch_parent(needed)
    tell(f"files go to {kind}: {parent}")
    python = install_trainform()
    found_peers = _peers(options.size)

    def measure(parts: Sequence[str]) -> Figures:
        with _scratch(parent) as folder:
            return _measure(Bench(python, folder), found_peers, size, jobs, rounds, parts)

    figures = measure(options.only)
    outcome = None
    if options.check:
        outcome = limits.hold(limits.ratios(figures), limits.read_limits())
        for _ in range(RETRIES):
            if again := [part for part in limits.parts(outcome.failures) if part in options.only]:
                tell(f"{outcome.failures[0]}: once more, and the better counts")
                figures = better(figures, measure(again))
                outcome = limits.hold(limits.ratios(figures), limits.read_limits())
    result = report.Result(figures, judge_all(figures), found_peers.missing, facts(python, found_peers), rounds, kind)
    report.write_results(result)
    print(report.as_text(result))
    if options.write_limits:
        limits.write_limits(limits.ratios(figures))
    if options.write_docs:
        report.write_docs(result)
    return _told(outcome) if outcome else 0


def better(first: Figures, second: Figures) -> Figures:
    return {group: best([figures, second.get(group, {})]) for group, figures in first.items()}


def _measure(
    bench: Bench, found: Peers, size: Size, jobs: Sequence[int], rounds: dict[int, int], only: Sequence[str]
) -> Figures:
    figures: Figures = {}
    if "starts" in only:
        figures[PROCESSES] = measure_starts(bench, size.starts)
        figures[IN_PROCESS] = measure_compile(bench)
        figures |= measure_profile(bench)
    if "peers" in only:
        number = size.torch_jobs
        figures[torch(number)] = peers.measure(bench, found, number, rounds[number])
    if "engines" in only:
        number = size.engine_jobs
        figures[engines.group(number)] = engines.measure(bench, found, number, rounds.get(number, 1))
    if "mixed" in only:
        for number in jobs:
            figures[mixed(number)] = Fleet(bench, number, rounds[number]).measure()
    return figures


def _peers(size: str) -> Peers:
    """The small size takes only the peer that its limits know, and nothing from the network."""
    if size == "full":
        return find_peers(download=True)
    found = find_peers(download=False)
    return Peers(found.kubectl, missing={name: why for name, why in found.missing.items() if "kustomize" in name})


def _rounds(jobs: int, size: str) -> int:
    if size == "small":
        return 3 if jobs < 1_000 else 1
    return 5 if jobs <= 1_000 else 3 if jobs <= 10_000 else 1


@contextmanager
def _scratch(parent: Path) -> Iterator[Path]:
    """A folder for all files of a run, deleted at its end and not before."""
    folder = Path(tempfile.mkdtemp(prefix="trainform-bench-", dir=parent))
    try:
        yield folder
    finally:
        tell("removing what was written")
        shutil.rmtree(folder)


def _told(outcome: limits.Outcome) -> int:
    for line in outcome.notes:
        print(f"note: {line}")
    for line in outcome.failures:
        print(f"FAILED: {line}")
    print("all ratios are within their limits" if not outcome.failures else "slower than the limits allow")
    return 1 if outcome.failures else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__)
    parser.add_argument("--size", choices=SIZES, default="full", help="how much is measured (default: full)")
    parser.add_argument("--jobs", type=_numbers, metavar="N,N", help="numbers of mixed jobs, instead of the size's")
    parser.add_argument("--rounds", type=int, metavar="N", help="rounds of everything that takes long")
    parser.add_argument("--only", type=_parts, default=PARTS, metavar="PART,PART", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--scratch", type=Path, metavar="DIR", help="where files go (default: memory, if it suffices)")
    parser.add_argument("--check", action="store_true", help="fail where a ratio is over its limit (of size small)")
    parser.add_argument("--write-limits", action="store_true", help="set the limits by this run (of size small)")
    parser.add_argument("--write-docs", action="store_true", help="write docs/performance.md and its pictures")
    return parser


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(sorted(int(number) for number in text.split(",")))


def _parts(text: str) -> tuple[str, ...]:
    parts = tuple(text.split(","))
    if not set(parts) <= set(PARTS):
        raise argparse.ArgumentTypeError(f"parts are {', '.join(PARTS)}")
    return parts


if __name__ == "__main__":
    sys.exit(main())

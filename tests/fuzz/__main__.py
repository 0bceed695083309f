"""`./dev fuzz`: looks for inputs that break a promise, and writes each as a case that `--replay` runs again."""

from __future__ import annotations

import argparse
import gc
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from fuzz import bytewise, case, mutate
from fuzz.bytewise import Finding
from fuzz.case import Case
from fuzz.contract import Failure
from fuzz.minimize import minimized
from fuzz.process import Machine
from fuzz.seeds import Seeds
from fuzz.trial import Trial

CORPUS = Path(__file__).parent / "corpus"
REPOSITORIES = "repositories"
THOROUGH = 10
"""One case in so many also runs in new interpreters."""

MINIMIZING = 20.0
"""Seconds to spend on making one failing case smaller."""

Clock = Callable[[int], bool]
"""Whether to go on, after that many cases."""


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    if options.guided:  # the process of one target
        bytewise.run_guided(options.guided, options.out, corpus_of(options.guided), options.seed, options.seconds)
    _import_everything()
    with _scratch() as folder:
        if options.replay:
            return _replay(options.replay, folder)
        found = _fuzz(options, folder)
    tell(f"{found} found" if found else "nothing found")
    return 1 if found else 0


def tell(text: str) -> None:
    print(f"fuzz: {text}", file=sys.stderr, flush=True)


def corpus_of(target: str) -> list[bytes]:
    """The kept inputs of a target, and valid files for it."""
    kept = [path.read_bytes() for path in sorted((CORPUS / target).glob("*"))]
    if target in ("streams", "loader", "patches"):
        golden = sorted((CORPUS.parents[2] / "golden").glob("*/*/input"))[::7]
        kept += [b"\n---\n".join(file.read_bytes() for file in sorted(each.rglob("*.yaml"))) for each in golden]
    return kept


def _parser() -> argparse.ArgumentParser:
    from fuzz.targets import TARGETS

    parser = argparse.ArgumentParser(prog="./dev fuzz", description=__doc__)
    names = (REPOSITORIES, *TARGETS)
    parser.add_argument("--minutes", type=float, default=1.0, help="how long, all targets together (default: 1)")
    parser.add_argument("--cases", type=int, help="stop each target after so many cases, so that two runs are the same")
    parser.add_argument("--target", action="append", choices=names, help="only this one; may be repeated")
    parser.add_argument("--seed", type=int, default=1, help="another seed, other cases (default: 1)")
    parser.add_argument("--out", type=Path, default=Path("fuzz-found"), help="folder for what is found")
    parser.add_argument(
        "--replay", type=Path, nargs="+", metavar="FILE", help="run kept cases again, or folders of them"
    )
    parser.add_argument("--no-coverage", action="store_true", help="choose inputs by chance although atheris is there")
    parser.add_argument("--guided", help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=int, default=60, help=argparse.SUPPRESS)
    return parser


def _import_everything() -> None:
    """What commands import is there before they fork, and garbage is as in `main`."""
    from importlib import import_module

    from trainform.cli.app import COMMANDS
    from trainform.installed import load_plugins

    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
    for name in COMMANDS:
        import_module(f"trainform.cli.commands.{name}")
    load_plugins()
    import fuzz.targets

    fuzz.targets.streams(b"kind: TrainJob")
    gc.freeze()


@contextmanager
def _scratch() -> Iterator[Path]:
    memory = Path("/dev/shm")
    parent = memory if os.access(memory, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="trainform-fuzz-", dir=parent, ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def _fuzz(options: argparse.Namespace, folder: Path) -> int:
    from fuzz.targets import TARGETS

    chosen = options.target or [REPOSITORIES, *TARGETS]
    guided = bytewise.guided_by_coverage() and not options.no_coverage and not options.cases
    if not guided and set(chosen) & set(TARGETS):
        why = "a number of cases is asked for" if options.cases else "atheris is not installed, or not wanted"
        tell(f"inputs of the parsers are chosen by chance, not by coverage: {why}")
    # Repositories have most of the code: half of the time is theirs.
    shares = {name: len(TARGETS) if name == REPOSITORIES else 1 for name in chosen}
    found = 0
    for name in chosen:
        seconds = options.minutes * 60 * shares[name] / sum(shares.values())
        goes_on = _clock(seconds, options.cases)
        if name == REPOSITORIES:
            found += _fuzz_repositories(goes_on, options, folder)
        else:
            found += _fuzz_target(name, goes_on, options, int(seconds) if guided else 0)
    return found


def _clock(seconds: float, cases: int | None) -> Clock:
    end = time.monotonic() + seconds
    return lambda number: number < cases if cases else time.monotonic() < end


def _fuzz_repositories(goes_on: Clock, options: argparse.Namespace, folder: Path) -> int:
    trial, known = Trial(folder), set[tuple[str, str]]()
    seeds = Seeds(folder, trial.machine)
    number = 0
    while goes_on(number):
        tried = mutate.make(seeds, number, options.seed)
        for failure in trial.failures(tried, thorough=number % THOROUGH == 0):
            if failure.fault not in known:
                known.add(failure.fault)
                _keep_case(failure, tried, trial, options.out)
        number += 1
    tell(f"{REPOSITORIES}: {number} cases, {trial.runs} command lines, {len(known)} faults")
    return len(known)


def _keep_case(failure: Failure, tried: Case, trial: Trial, out: Path) -> None:
    """Write a failing case, made as small as it gets, and say so."""

    def fails(smaller: Case) -> bool:
        thorough = failure.what.startswith("different")
        return any(each.fault == failure.fault for each in trial.failures(smaller, thorough=thorough))

    small = minimized(tried, fails, seconds=MINIMIZING)
    path = _file(out, REPOSITORIES, f"{failure.what} {failure.where}", ".json")
    path.write_text(case.dump(small))
    tell(f"{failure.what}: {failure.where}\n{failure.detail.strip()[-1500:]}\n  ./dev fuzz --replay {path}")


def _fuzz_target(name: str, goes_on: Clock, options: argparse.Namespace, guided_seconds: int) -> int:
    from fuzz.targets import TARGETS

    if guided_seconds:
        found = _guided(name, options, guided_seconds)
    else:
        tried, found = bytewise.run_by_chance(name, TARGETS[name], corpus_of(name), options.seed, goes_on)
        tell(f"{name}: {tried} inputs by chance, {len(found)} faults")
    for finding in found:
        path = _file(options.out, name, finding.fault, "")
        path.write_bytes(finding.data)
        tell(f"{name}: {finding.fault}\n{finding.told.strip()[-1500:]}\n  ./dev fuzz --replay {path}")
    return len(found)


def _guided(name: str, options: argparse.Namespace, seconds: int) -> list[Finding]:
    """Run a target in a process that is instrumented for coverage; what it found, tried again here."""
    from fuzz.targets import TARGETS

    with _scratch() as folder:
        command = [sys.executable, "-m", "fuzz", "--guided", name, "--seconds", str(max(1, seconds))]
        command += ["--seed", str(options.seed), "--out", str(folder)]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace")
        units = re.search(r"number_of_executed_units: (\d+)", done.stderr)
        told = f"{units[1]} inputs by coverage" if units else f"atheris ended early: {done.stderr[-800:]}"
        machine = Machine()
        tried = (
            bytewise.fault_of(name, TARGETS[name], path.read_bytes(), machine)
            or Finding(name, "ended", path.read_bytes(), "")
            for path in sorted(folder.glob("finding-*"))
        )
        found = {finding.fault: finding for finding in tried}
    tell(f"{name}: {told}, {len(found)} faults")
    return list(found.values()) if units or found else [Finding(name, "atheris", b"", told)]


def _file(out: Path, target: str, fault: str, suffix: str) -> Path:
    name = re.sub(r"[^\w.-]+", "-", fault).strip("-")[:90]
    (out / target).mkdir(parents=True, exist_ok=True)
    return out / target / f"{name}{suffix}"


def _replay(paths: Sequence[Path], folder: Path) -> int:
    """Run kept cases; the folder of bytes for a parser has the target's name. Of files that are named, each command
    also runs in a new interpreter; whole folders run often, and that takes long."""
    from fuzz.targets import TARGETS

    trial, failed = Trial(folder), 0
    files = [
        file for path in paths for file in (sorted(path.rglob("*")) if path.is_dir() else [path]) if file.is_file()
    ]
    for file in files:
        target = TARGETS.get(file.parent.name)
        if target:
            finding = bytewise.fault_of(file.parent.name, target, file.read_bytes(), trial.machine)
            told = [f"{finding.fault}\n{finding.told}"] if finding else []
        else:
            failures = trial.failures(case.parse(file.read_text()), thorough=file in paths)
            told = [f"{each.what}: {each.where}\n{each.detail}" for each in failures]
        failed += bool(told)
        for text in told:
            tell(f"{file}: {text}")
    tell(f"{len(files)} cases, {failed} failed")
    return 1 if failed or not files else 0


if __name__ == "__main__":
    sys.exit(main())

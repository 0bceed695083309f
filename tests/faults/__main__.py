"""`./dev faults`: breaks runs until the time is up, and tells what did not hold."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random

from faults import report
from faults.kinds import CROWD, KINDS, Blow, Stage
from faults.promises import breaches
from faults.report import Broken, Cell, Result
from faults.scenes import Scene, make_scenes
from support.inject import build_library, reason_against
from support.nursery import Nursery

MEMORY = Path("/dev/shm")


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    if reason := reason_against():
        print(f"faults: {reason}", file=sys.stderr)
        return 2
    with open_stage(options.scratch) as stage:
        scenes = make_scenes(stage.folder, stage.nursery)
        result = run(stage, scenes, options.kinds, options.minutes * 60, options.rounds, options.seed)
    print(report.as_text(result))
    report.write_results(result)
    if options.write_docs:
        report.write_docs(result)
    return 1 if result.broken else 0


@contextmanager
def open_stage(parent: Path) -> Iterator[Stage]:
    """A folder, which is deleted at the end, and processes to run in."""
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="trainform-faults-", dir=parent))
        stack.callback(shutil.rmtree, folder)
        library = build_library(folder)
        yield Stage(folder, [stack.enter_context(Nursery(library)) for _ in range(CROWD)])


def run(
    stage: Stage, scenes: Sequence[Scene], kinds: Sequence[str], seconds: float, rounds: int = 0, seed: int = 0
) -> Result:
    """Break runs, kinds and scenes in turns, until `seconds` are over, `rounds` are done (0: no limit), or nothing is
    left that was not done. A cell's blows come in an order that `seed` decides."""
    start = time.monotonic()
    plans = {(kind, scene.name): _shuffled(stage, scene, kind, seed) for kind in kinds for scene in scenes}
    cells = {key: Cell(len(blows)) for key, blows in plans.items()}
    by_name = {scene.name: scene for scene in scenes}
    broken: list[Broken] = []
    for number, (kind, name, blow) in enumerate(_in_turns(plans)):
        if time.monotonic() - start > seconds or number == rounds > 0:
            break
        with stage.play(by_name[name]) as repository:
            found = breaches(stage, by_name[name], blow, repository)
        cells[kind, name].rounds += 1
        broken += [Broken(kind, name, repr(blow), breach) for breach in found]
    return Result(cells, broken, time.monotonic() - start, seed)


def _shuffled(stage: Stage, scene: Scene, kind: str, seed: int) -> list[Blow]:
    chance = Random(f"{seed} {kind} {scene.name}")
    blows = list(KINDS[kind].blows(stage, scene, chance))
    chance.shuffle(blows)
    return blows


def _in_turns(plans: dict[tuple[str, str], list[Blow]]) -> Iterator[tuple[str, str, Blow]]:
    """The first blow of each cell, then the second of each that has one, and so on."""
    for turn in range(max(map(len, plans.values()))):
        for (kind, name), blows in plans.items():
            if turn < len(blows):
                yield kind, name, blows[turn]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("./dev faults", description=__doc__)
    parser.add_argument("--minutes", type=float, default=2.0, help="time to break runs for (default 2)")
    parser.add_argument("--rounds", type=int, default=0, help="end after so many rounds")
    parser.add_argument("--seed", type=int, default=2026, help="another one breaks other calls first")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS), metavar="KIND", help=", ".join(KINDS))
    default = MEMORY if MEMORY.is_dir() else Path(tempfile.gettempdir())
    parser.add_argument("--scratch", type=Path, default=default, help="where repositories go (default: memory)")
    parser.add_argument("--write-docs", action="store_true", help="write the counts to docs/reliability.md")
    return parser


if __name__ == "__main__":
    sys.exit(main())

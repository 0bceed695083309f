"""The commands on a repository of mixed jobs, under git, and with something changed."""

from __future__ import annotations

import functools
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.generate import RUNTIMES, mixed_files, mixed_job, runtime_file, runtime_text, write
from benchmarks.measure import REFERENCE, Bench, Taken, best, environment, in_turns, one_round

COLD = "render, cold"
NO_CHANGE_UNPROVEN = "render, nothing changed, in a fresh clone"
NO_CHANGE = "render, nothing changed"
VALIDATE = "validate"
CHECK = "check"
CHECK_BASE = "check --base HEAD"
DIFF = "diff"
ONE_JOB_RENDER = "render, one job changed"
ONE_JOB_DIFF = "diff, one job changed"
ONE_JOB_CHECK = "check --base HEAD, one job changed"
CI_VALIDATE = "validate, in a fresh clone with one job changed"
CI_CHECK = "check --base HEAD, likewise"
CI_DIFF = "diff --format markdown, likewise"
CI = "ci, which does all three, likewise"
ONE_RUNTIME_RENDER = "render, one runtime changed (frozen)"
ONE_RUNTIME_DIFF = "diff, one runtime changed"
ONE_RUNTIME_UPGRADE = "upgrade, one runtime changed"
UPGRADE_DIFF = "diff of that upgrade, a twentieth of the jobs"

# Ways to render everything, each with the arguments of its command line: one with an option is a line more.
COLD_RENDERS = {COLD: ["render"]}


@dataclass(slots=True)
class Fleet:
    """A repository of `jobs` mixed jobs, measured in `rounds`. Nothing is deleted before the end of a run:
    some file systems make files ten times slower for minutes after that."""

    bench: Bench
    jobs: int
    rounds: int

    @property
    def title(self) -> str:
        return f"{self.jobs:,} mixed jobs"

    def measure(self) -> dict[str, Taken]:
        """Everything, from a cold render on. New commands and options go where a repository is as they need it: into
        COLD_RENDERS, into `still` where nothing is changed, into `one_job` or `one_runtime` where something is."""
        cold, root = self.cold()
        start_git(root)
        still = self.still(root)
        committed = self.committed(root)
        one_job = best(list(self.one_job(root)))
        one_runtime = best(list(self.one_runtime(root)))
        parts = (cold, still, committed, one_job, one_runtime)
        return {name: each for part in parts for name, each in part.items()} | best(
            [{REFERENCE: part[REFERENCE]} for part in parts]
        )

    def cold(self) -> tuple[dict[str, Taken], Path]:
        """Each render is of a fresh repository, written before its time starts; the last one is left to go on with."""
        roots: list[Path] = []

        def renders() -> Iterator[tuple[str, Callable[[], Taken]]]:
            for name, arguments in COLD_RENDERS.items():
                roots.append(self.bench.scratch / f"mixed-{self.jobs}-{len(roots)}")
                write(roots[-1], mixed_files(self.jobs))
                yield name, functools.partial(self.bench.trainform, roots[-1], *arguments)

        rounds = [
            one_round({REFERENCE: self.bench.reference_loop, **dict(renders())}, self.round_title(number))
            for number in range(self.rounds)
        ]
        return best(rounds), roots[-1]

    def round_title(self, number: int) -> str:
        return f"{self.title}, round {number + 1} of {self.rounds}"

    def still(self, root: Path) -> dict[str, Taken]:
        trainform = self.bench.trainform
        steps = {
            REFERENCE: self.bench.reference_loop,
            NO_CHANGE_UNPROVEN: lambda: trainform(forgotten(root), "render"),
            NO_CHANGE: lambda: trainform(root, "render"),
            VALIDATE: lambda: trainform(root, "validate"),
            CHECK: lambda: trainform(forgotten(root), "check"),
        }
        return in_turns(self.rounds, steps, self.title)

    def committed(self, root: Path) -> dict[str, Taken]:
        trainform = self.bench.trainform
        self.kept(root)
        steps = {
            REFERENCE: self.bench.reference_loop,
            CHECK_BASE: lambda: trainform(root, "check", "--base", "HEAD"),
            DIFF: lambda: trainform(root, "diff"),
        }
        return in_turns(self.rounds, steps, self.title)

    def kept(self, root: Path) -> Path:
        """As a kept checkout: every command has run before, so that the build cache has what each of them needs."""
        for arguments in (["render"], ["diff"], ["check", "--base", "HEAD"]):
            self.bench.trainform(root, *arguments)
        return root

    def one_job(self, root: Path) -> Iterator[dict[str, Taken]]:
        """Each round changes another job, against a commit of all that came before."""
        trainform = self.bench.trainform
        for number in range(self.rounds):
            job = mixed_job(number, revision=1)
            write(root, [(job.file, job.text())])
            steps = {
                REFERENCE: self.bench.reference_loop,
                ONE_JOB_DIFF: lambda: trainform(root, "diff", codes=(1,)),
                ONE_JOB_RENDER: lambda: trainform(root, "render"),
                ONE_JOB_CHECK: lambda: trainform(root, "check", "--base", "HEAD"),
                CI_VALIDATE: lambda: trainform(forgotten(root), "validate"),
                CI_CHECK: lambda: trainform(forgotten(root), "check", "--base", "HEAD"),
                CI_DIFF: lambda: trainform(forgotten(root), "diff", "--format", "markdown", codes=(1,)),
                CI: lambda: trainform(forgotten(root), "ci", codes=(1,)),
            }
            yield one_round(steps, self.round_title(number))
            commit(root)

    def one_runtime(self, root: Path) -> Iterator[dict[str, Taken]]:
        """Each round changes another runtime, which one job in twenty runs on."""
        trainform = self.bench.trainform
        self.kept(root)
        for number, name in zip(range(self.rounds), RUNTIMES, strict=False):
            write(root, [(runtime_file(name), runtime_text(name, revision=1))])
            steps: dict[str, Callable[[], Taken]] = {
                REFERENCE: self.bench.reference_loop,
                ONE_RUNTIME_RENDER: lambda: trainform(root, "render"),
                ONE_RUNTIME_DIFF: lambda: trainform(root, "diff", codes=(1,)),
                ONE_RUNTIME_UPGRADE: functools.partial(trainform, root, "upgrade", "--runtime", name),
                UPGRADE_DIFF: lambda: trainform(root, "diff", codes=(1,)),
            }
            yield one_round(steps, self.round_title(number))
            commit(root)


def forgotten(root: Path) -> Path:
    """The repository without its cache: as in a fresh clone."""
    for file in (root / ".git/trainform").glob("*-cache.json"):
        file.unlink()
    return root


def start_git(root: Path) -> None:
    """Puts everything under git, into a pack, as a clone has it. The loose objects stay: nothing is deleted."""
    _git(root, "init", "--quiet", "--initial-branch", "main")
    commit(root)
    _git(root, "-c", "pack.window=0", "repack", "-a", "--quiet")


def commit(root: Path) -> None:
    _git(root, "add", "--all")
    _git(root, "commit", "--quiet", "--message", "change")


def _git(root: Path, *arguments: str) -> None:
    who = [f"GIT_{role}_{what}" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")]
    command = ["git", "-C", str(root), "-c", "gc.auto=0", "-c", "core.compression=1", *arguments]
    subprocess.run(command, check=True, env={**environment(), **dict.fromkeys(who, "somebody")})

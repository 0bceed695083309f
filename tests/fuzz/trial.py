"""Runs a case: each command line, then what must hold between them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fuzz.case import Case, Step
from fuzz.contract import READS_ONLY, Failure, broken
from fuzz.place import SECRET, Listing, Place, changed, listing, set_up
from fuzz.process import Machine, Ran, run_forked, run_started

INPUTS = ("trainform.yaml", "jobs/", "runtimes/", "environments/")
GIT_OWN = ("config", "HEAD", "hooks/", "refs/", "packed-refs", "info/")
"""What no command changes in git's own folder. Git's index and objects, and our lock and cache, are not among it."""


UNPROVABLE = b"TF712"
"""What a render says of a frozen job whose snapshot is gone: it stays as it is, but `check` cannot prove it."""


class Trial:
    """Runs cases in one folder, one after another."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.machine = Machine()
        self.runs = 0

    def failures(self, case: Case, *, thorough: bool = False) -> list[Failure]:
        """The promises that a case breaks. `thorough`: each command also runs again in a new interpreter, from the same
        files, and must say and write the same."""
        self.machine.measure()
        place = set_up(case, self.folder / "case")
        try:
            found = [failure for step in case.steps for failure in self._step(step, place)]
            if thorough and not found:
                found = self._again(case, place)
            return found
        finally:
            place.clear()

    def _step(self, step: Step, place: Place) -> Iterator[Failure]:
        before = _World(place)
        ran = self._run(step, place)
        after = _World(place)
        yield from broken(step, ran)
        yield from _writes(step, ran, before, after)
        if _renders_all(step) and ran.code == 0 and UNPROVABLE not in ran.err:
            yield from self._checked(place)

    def _checked(self, place: Place) -> Iterator[Failure]:
        ran = self._run(Step(("check",)), place)
        if ran.code:
            yield Failure("check fails after render", "check", (ran.out + ran.err).decode(errors="replace"))

    def _run(self, step: Step, place: Place) -> Ran:
        self.runs += 1
        return run_forked(step, place, self.machine)

    def _again(self, case: Case, place: Place) -> list[Failure]:
        """`place` holds what the first run left."""
        first = listing(place.root, without=".git")
        set_up(case, place.folder)
        outputs = [run_forked(step, place, self.machine) for step in case.steps]
        set_up(case, place.folder)
        again = [run_started(step, place, self.machine) for step in case.steps]
        for step, one, other in zip(case.steps, outputs, again, strict=True):
            if step.command == "keys":
                continue  # the only command with randomness
            if (one.code, one.out, one.err) != (other.code, other.out, other.err):
                told = f"{_told(one)}\n--- in a new interpreter:\n{_told(other)}"
                return [Failure("different output in a second run", step.command, told)]
        differs = changed(first, listing(place.root, without=".git"))
        if differs and not any(step.command == "keys" for step in case.steps):
            return [Failure("different files in a second run", case.steps[-1].command, ", ".join(differs[:5]))]
        return []


def _told(ran: Ran) -> str:
    return f"exit {ran.code}\n" + (ran.out + ran.err).decode(errors="replace")


class _World:
    """The repository, git's own folder, and what is beside them, at one time."""

    def __init__(self, place: Place) -> None:
        self.root = place.root
        self.tree: Listing = listing(place.root, without=".git")
        self.git: Listing = listing(place.root / ".git")
        self.outside: Listing = {**listing(place.outside), **listing(place.folder / "home")}


def _writes(step: Step, ran: Ran, before: _World, after: _World) -> Iterator[Failure]:
    if touched := changed(before.outside, after.outside):
        yield Failure("writes outside of the repository", step.command, ", ".join(touched))
    touched = [path for path in changed(before.git, after.git) if path.startswith(GIT_OWN)]
    if touched:
        yield Failure("writes into git's folder", step.command, ", ".join(touched))
    written = changed(before.tree, after.tree)
    if step.command in READS_ONLY and written:
        yield Failure("a command that reads writes", step.command, ", ".join(written[:5]))
    if step.command in ("render", "upgrade"):
        inputs = [path for path in written if path.startswith(INPUTS) and path in before.tree]
        if inputs:
            yield Failure("changes its inputs", step.command, ", ".join(inputs[:5]))
        if ran.code == 2 and written and "--keep-going" not in step.arguments:
            yield Failure("writes although it fails", step.command, ", ".join(written[:5]))
    for path in written:
        file = after.root / path
        if path in after.tree and not file.is_symlink() and SECRET.encode() in file.read_bytes():
            yield Failure("copies a file from outside of the repository", step.command, path)


def _renders_all(step: Step) -> bool:
    return step.arguments == ("render",) or step.arguments == ("render", "--no-cache")

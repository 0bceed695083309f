"""What holds after every fault."""

from __future__ import annotations

from collections.abc import Iterator

from faults.kinds import AtOnce, Blow, Stage
from faults.scenes import LOCKS, RENDERED, Scene, State, names_of, state_of
from support.nursery import KILLED, Ended
from support.repositories import Repository

OK, DIFFERS, FAULTY = 0, 1, 2
BUG_WORDS = ("Traceback", "internal error")


def breaches(stage: Stage, scene: Scene, blow: Blow, repository: Repository) -> list[str]:
    """Break the command of a scene in a copy of its repository, and tell each promise that it does not keep."""
    names = names_of(repository) | scene.names
    ended = blow.strike(stage, scene, repository)
    found = [breach for each in ended for breach in _by_contract(each)]
    found += _of_results(scene, blow, ended[0], state_of(repository))
    found += _of_a_passing_check(stage, repository)
    found += _of_the_next_run(stage, scene, blow, repository)
    if left := names_of(repository) - names:
        found.append(f"left behind: {', '.join(sorted(left))}")
    return found


def _by_contract(ended: Ended) -> Iterator[str]:
    if ended.code not in (OK, DIFFERS, FAULTY, KILLED):
        yield f"exit code {ended.code}: {ended.output[-400:]}"
    elif any(word in ended.output for word in BUG_WORDS):
        yield f"a traceback: {ended.output[-400:]}"
    elif ended.code == FAULTY and not ended.output.strip():
        yield "an error without a word"


def _of_results(scene: Scene, blow: Blow, ended: Ended, state: State) -> Iterator[str]:
    """Each folder is old or new, whole. Exit code 0 means done. A command that only reads cannot pass by a fault."""
    for name, found in _folders(state).items():
        if found not in (_folders(scene.before)[name], _folders(scene.after)[name]):
            yield f"the folder of {name} is neither old nor new: {sorted(found)}"
    if ended.code == OK and scene.code == OK and scene.writes and state != scene.after:
        yield f"exit code 0 although {_difference(state, scene.after)}"
    if ended.code == OK and scene.code != OK and not isinstance(blow, AtOnce):
        yield f"passes, although it is to exit with {scene.code}"
    if not scene.writes and not isinstance(blow, AtOnce) and state != scene.before:
        yield f"a command that only reads has changed {_difference(state, scene.before)}"


def _of_a_passing_check(stage: Stage, repository: Repository) -> Iterator[str]:
    """A check that passes means that there is nothing to render, half-done things included. A snapshot that no lock
    names any more harms nobody, and goes with the next render."""
    before = _results(repository)
    checked = stage.nursery.run(repository.root, "check")
    yield from _by_contract(checked)
    if checked.code == OK:
        rendered = stage.nursery.run(repository.root, "render")
        if rendered.code != OK or _results(repository) != before:
            yield f"check passes, then render exits with {rendered.code} or changes manifests or locks"


def _of_the_next_run(stage: Stage, scene: Scene, blow: Blow, repository: Repository) -> Iterator[str]:
    """The next run is as if nothing had happened."""
    again = stage.nursery.run(repository.root, *scene.arguments)
    if again.code != scene.code and not (isinstance(blow, AtOnce) or scene.code == DIFFERS):
        yield f"the next run exits with {again.code}: {again.output[-400:]}"
    if scene.writes and (state := state_of(repository)) != scene.after:
        yield f"after the next run, {_difference(state, scene.after)}"


def _results(repository: Repository) -> dict[str, bytes]:
    return repository.files(RENDERED, LOCKS)


def _folders(state: State) -> dict[str, dict[str, bytes]]:
    """The folders of jobs alone: a lock may say for a while that its folder is being replaced."""
    return {
        name: {path: data for path, data in files.items() if not path.endswith(".lock")}
        for name, files in state.jobs.items()
    }


def _difference(found: State, wanted: State) -> str:
    paths = found.files.keys() | wanted.files.keys()
    differing = sorted(path for path in paths if found.files.get(path) != wanted.files.get(path))
    return f"{len(differing)} files differ: {', '.join(differing[:4])}"

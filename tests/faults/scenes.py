"""The repositories in which runs are broken, and what each of them looks like before and after its run."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from support.nursery import Nursery
from support.repositories import Repository, environment, job, runtime

NAMES = ("changed", "gone", "new", "same")
LOCKS, RENDERED = ".trainform/locks", "rendered"

JobState = dict[str, bytes]
"""The files of a job's folder and its lock, by path."""


class State(NamedTuple):
    """What is committed of the results: per job, and all in all."""

    jobs: dict[str, JobState]
    files: dict[str, bytes]


Edit = Callable[[Repository], None]


class Script(NamedTuple):
    """A command in a copy of `folder`. `first` runs before it, unbroken, and `edit` changes files after that."""

    name: str
    folder: Path
    arguments: tuple[str, ...]
    first: tuple[str, ...] = ()
    edit: Edit | None = None


class Scene(NamedTuple):
    """A script, and what it comes to where nothing breaks: states, exit code, and the names of all files that this and
    other commands leave."""

    script: Script
    before: State
    after: State
    code: int
    names: frozenset[str]

    @property
    def name(self) -> str:
        return self.script.name

    @property
    def arguments(self) -> tuple[str, ...]:
        return self.script.arguments

    @property
    def writes(self) -> bool:
        return self.before != self.after


@contextmanager
def played(script: Script, folder: Path, nursery: Nursery) -> Iterator[Repository]:
    """A copy of the script's repository, ready for its command. It is deleted at the end. All copies have one path."""
    repository = _copy(Repository(script.folder), folder / "played")
    try:
        if script.first:
            unbroken(nursery, repository, *script.first)
        if script.edit:
            script.edit(repository)
        yield repository
    finally:
        shutil.rmtree(repository.root)


def state_of(repository: Repository) -> State:
    """The results in a repository. What a run has under way lies elsewhere."""
    files = repository.files(RENDERED, LOCKS, ".trainform/snapshots")
    return State({name: _job(files, name) for name in NAMES}, files)


def names_of(repository: Repository) -> frozenset[str]:
    """The names of all files, git's objects apart."""
    names = repository.files(".")
    return frozenset(name for name in names if not name.startswith(".git/objects/"))


def _job(files: JobState, name: str) -> JobState:
    """Each job of these scenes has the name of its namespace."""
    below = (f"{RENDERED}/prod/{name}/{name}/", f"{LOCKS}/prod/{name}/{name}.lock")
    return {path: data for path, data in files.items() if path.startswith(below)}


def make_scenes(folder: Path, nursery: Nursery) -> list[Scene]:
    """Every scene, each with a repository below `folder`."""
    new = _repository(folder / "new")
    rendered = _copy(new, folder / "rendered")
    unbroken(nursery, rendered, "render")
    rendered.commit()
    changed = _copy(rendered, folder / "changed")
    _change(changed)
    behind = _copy(rendered, folder / "behind")
    behind.write("runtimes/torch.yaml", runtime("example/train:2"))
    scripts = [
        Script("first render", new.root, ("render",)),
        Script("render", changed.root, ("render",)),
        Script("render, cached", rendered.root, ("render",), ("render",), _change),
        Script("upgrade", behind.root, ("upgrade", "--all")),
        Script("check", rendered.root, ("check",)),
        Script("check of an edited manifest", rendered.root, ("check",), (), _edit_manifest),
        Script("check of an edited manifest, cached", rendered.root, ("check",), ("check",), _edit_manifest),
        Script("check without a manifest, cached", rendered.root, ("check",), ("check",), _remove_manifest),
        Script("diff", changed.root, ("diff", "--format", "json")),
        Script("validate", changed.root, ("validate",)),
    ]
    return [_scene(script, folder, nursery) for script in scripts]


def _scene(script: Script, folder: Path, nursery: Nursery) -> Scene:
    with played(script, folder, nursery) as repository:
        before = state_of(repository)
        ended = nursery.run(repository.root, *script.arguments)
        after = state_of(repository)
        for command in ("check", "diff", "validate", "render"):
            nursery.run(repository.root, command)
        return Scene(script, before, after, ended.code, names_of(repository))


def unbroken(nursery: Nursery, repository: Repository, *arguments: str) -> None:
    ended = nursery.run(repository.root, *arguments)
    if ended.code != 0:
        raise RuntimeError(f"{' '.join(arguments)} fails without a fault: {ended.output}")


def _copy(repository: Repository, folder: Path) -> Repository:
    """Without what belongs to one checkout."""
    shutil.copytree(repository.root, folder, symlinks=True)
    shutil.rmtree(folder / ".git/trainform", ignore_errors=True)
    return Repository(folder)


def _repository(folder: Path) -> Repository:
    """Three jobs, never rendered, in git."""
    repository = Repository(folder)
    repository.write("environments/prod/environment.yaml", environment(naming="content-hash"))
    repository.write("runtimes/torch.yaml", runtime("example/train:1"))
    for name in ("changed", "gone", "same"):
        repository.write(f"jobs/{name}.yaml", job(name, namespace=name))
    repository.git("init", "--quiet", "--initial-branch", "main", "--template=")
    repository.commit()
    return repository


def _change(repository: Repository) -> None:
    """One job changes, one is new, one goes; the fourth is frozen, although its runtime changed."""
    (repository.root / "jobs/gone.yaml").unlink()
    repository.write("jobs/changed.yaml", job("changed", nodes=4, namespace="changed"))
    repository.write("jobs/new.yaml", job("new", namespace="new"))
    repository.write("runtimes/torch.yaml", runtime("example/train:2"))


def _edit_manifest(repository: Repository) -> None:
    """An edit by hand that keeps the size of the file."""
    [manifest] = (repository.root / RENDERED / "prod/same/same").glob("jobset-*.yaml")
    manifest.write_text(manifest.read_text().replace("example/train:1", "example/other:1"))


def _remove_manifest(repository: Repository) -> None:
    [manifest] = (repository.root / RENDERED / "prod/same/same").glob("jobset-*.yaml")
    manifest.unlink()

"""The names that a command line may hold. Nothing is compiled for them, since somebody waits after the Tab key."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from trainform.io.paths import locked_jobs
from trainform.k8s.tree import name_of, table, text

if TYPE_CHECKING:
    from trainform.io.repository import Repository


def jobs(repository: Repository) -> Iterator[str]:
    """Jobs as their lockfiles know them, and files, for those that were never rendered."""
    for _, namespace, name in locked_jobs(repository.root):
        yield f"{namespace}/{name}"
        yield name
    yield from repository.jobs().files


def environments(repository: Repository) -> Iterator[str]:
    return (folder.rpartition("/")[2] for folder in repository.environments())


def runtimes(repository: Repository) -> Iterable[str]:
    from trainform.workspace.runtimes import known_runtimes

    return known_runtimes(repository).by_name()


def queues(repository: Repository) -> Iterator[str]:
    """The LocalQueues that are declared, and those that Environments name."""
    from trainform.workspace.shared.reading import load_files

    for document in load_files(repository, repository.listed(repository.settings.environments).files).documents:
        kind = text(document.tree, "kind")
        if kind == "LocalQueue":
            yield name_of(document.tree)
        elif kind == "Environment":
            yield text(table(table(table(document.tree, "spec"), "scheduling"), "kueue"), "localQueue")


def codes(_repository: Repository) -> Iterable[str]:
    from trainform.diagnostics.codes import CODES

    return CODES


def variables(_repository: Repository) -> Iterable[str]:
    """Variables that shipped and other plugins give to pods."""
    from trainform.core.given.table import meanings
    from trainform.installed import load_plugins

    return meanings(load_plugins())


def fact_kinds(_repository: Repository) -> Iterable[str]:
    from trainform.k8s.fact_kinds import FACT_VERSIONS

    return FACT_VERSIONS

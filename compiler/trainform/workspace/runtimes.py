"""The runtimes that jobs may name: the repository's own, and the shipped ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from trainform.io.resources import shipped_runtimes
from trainform.k8s.tree import name_of
from trainform.workspace.inputs import load
from trainform.workspace.shared.reading import load_files

if TYPE_CHECKING:
    from trainform.diagnostics import Diagnostic
    from trainform.io.repository import Repository
    from trainform.source import Document

KINDS = ("ClusterTrainingRuntime", "TrainingRuntime")


class Runtimes(NamedTuple):
    """Documents of the folder of runtimes and of the package, other kinds among them, and problems of reading."""

    own: list[Document]
    shipped: list[Document]
    problems: list[Diagnostic]

    def by_name(self) -> dict[str, Document]:
        """Runtimes by name; the repository's first of that name, else a shipped one."""
        found = reversed([*self.own, *self.shipped])
        return {name_of(each.tree): each for each in found if each.tree.get("kind") in KINDS}


def known_runtimes(repository: Repository) -> Runtimes:
    """Read both."""
    listing = repository.runtimes()
    own = load_files(repository, listing.files)
    shipped = [each for name, text in shipped_runtimes() for each in load(name, text.encode()).documents]
    return Runtimes(own.documents, shipped, [*listing.diagnostics, *own.diagnostics])

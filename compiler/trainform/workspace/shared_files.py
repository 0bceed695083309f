"""Files that no single job owns: the lists of shared folders, and git's attributes."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, NamedTuple

from trainform.diagnostics import Diagnostic
from trainform.io import paths as state
from trainform.io.paths import JobId
from trainform.io.place import file_error
from trainform.output.kustomization import FILE, folders_in, kustomization
from trainform.workspace.state import edited_by_hand

if TYPE_CHECKING:
    from trainform.workspace.assembling import Run

ATTRIBUTES = ".gitattributes"
_TEXT = """\
# Written by trainform, byte for byte: folded in pull requests.
{0}/** -text linguist-generated=true
.trainform/** -text linguist-generated=true
# Two branches may add a job each: both lines are kept.
{0}/*/kustomization.yaml merge=union
{0}/*/*/kustomization.yaml merge=union
"""


class SharedList(NamedTuple):
    """A `kustomization.yaml` of an environment or a namespace, and the folders that it should list: none,
    where it should not be there."""

    file: str
    environment: str
    namespace: str
    folders: Collection[str]

    @property
    def wanted(self) -> bytes | None:
        return kustomization(self.folders) if self.folders else None

    def is_current(self, found: bytes | None) -> bool:
        """Whether the file lists these folders and no others, in whatever order a merge left them."""
        listed = folders_in(found) if found is not None else []
        return listed == sorted(self.folders) and (found is None) == (not self.folders)


def shared_lists(
    rendered: str,
    before: Iterable[JobId],
    after: Collection[JobId],
    concerned: Collection[tuple[str, str]] | None = None,
) -> list[SharedList]:
    """The lists of all folders that jobs share or shared; with `concerned`, of those environments (whose namespace is
    empty) and namespaces alone."""
    folders: dict[tuple[str, str], set[str]] = {}
    for job in {*before, *after} if concerned is None or concerned else ():
        environment, namespace, name = job
        above, own = folders.setdefault((environment, ""), set()), folders.setdefault((environment, namespace), set())
        if job in after:
            above.add(namespace)
            own.add(name)
    return [
        SharedList("/".join(filter(None, [rendered, *where, FILE])), *where, sorted(names))
        for where, names in sorted(folders.items())
        if concerned is None or where in concerned
    ]


def plan_lists(run: Run, environments: Collection[str], concerned: Collection[tuple[str, str]] | None = None) -> None:
    """Bring the shared lists of some environments in line with the jobs that remain; `concerned` as above.

    A list that says more than that was edited by hand, and is an error.
    """
    repository = run.repository
    for each in shared_lists(repository.settings.rendered, run.state.ids(), run.remaining(), concerned):
        if each.environment not in environments:
            continue
        found, wanted = state.file_bytes(repository.root, each.file), each.wanted
        if found == wanted:
            continue
        if found is not None and folders_in(found) is None:
            run.diagnostics.append(edited_by_hand(each.file))
        else:
            run.files[each.file] = wanted


def plan_attributes(run: Run) -> None:
    """Tell git what is generated: in a new `.gitattributes`, since one that is there is the user's."""
    repository = run.repository
    found = state.file_bytes(repository.root, ATTRIBUTES)
    if found is None and run.remaining():
        run.files[ATTRIBUTES] = _TEXT.format(repository.settings.rendered).encode()
    elif found is not None and run.files | run.jobs and not _marks(found.decode(errors="replace"), run):
        run.diagnostics.append(_unmarked(repository.settings.rendered))


def _marks(text: str, run: Run) -> bool:
    prefix = run.repository.settings.rendered + "/"
    lines = [line.lstrip("/") for line in text.splitlines()]
    return any(line.startswith(prefix) and "linguist-generated" in line for line in lines)


def _unmarked(rendered: str) -> Diagnostic:
    hint = f"add the line: {rendered}/** -text linguist-generated=true"
    message = f"does not mark {rendered}/ as generated, so pull requests do not collapse it"
    problem = file_error("TF716", ATTRIBUTES, message, hint)
    return Diagnostic("TF716", "info", problem.message, problem.hint, place=problem.place)

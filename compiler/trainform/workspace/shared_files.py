"""Files that no single job owns: lists of shared folders, snapshots and `.gitattributes`."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, NamedTuple

from trainform.diagnostics import Diagnostic
from trainform.io import paths
from trainform.io.paths import JobId, snapshot_file
from trainform.io.place import file_error
from trainform.output.kustomization import FILE, folders_in, kustomization
from trainform.workspace.lockfile import LockFile
from trainform.workspace.state import edited_by_hand

if TYPE_CHECKING:
    from trainform.workspace.cache.build_cache import BuildCache
    from trainform.workspace.discovery import Workspace
    from trainform.workspace.plan import BuildOptions, ChangeSet

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
    """The `kustomization.yaml` of an environment or namespace, and the folders it should list (none: no file)."""

    file: str
    environment: str
    namespace: str
    folders: Collection[str]

    @property
    def wanted(self) -> bytes | None:
        return kustomization(self.folders) if self.folders else None

    def is_current(self, found: bytes | None) -> bool:
        """Whether the file lists exactly these folders, in any order, as merges may reorder them."""
        listed = folders_in(found) if found is not None else []
        return listed == sorted(self.folders) and (found is None) == (not self.folders)


def shared_lists(rendered: str, before: Iterable[JobId], after: Collection[JobId]) -> list[SharedList]:
    """The lists of all folders that jobs share now or shared before."""
    folders: dict[tuple[str, str], set[str]] = {}
    for job in {*before, *after}:
        environment, namespace, name = job
        above, own = folders.setdefault((environment, ""), set()), folders.setdefault((environment, namespace), set())
        if job in after:
            above.add(namespace)
            own.add(name)
    return [
        SharedList("/".join(filter(None, [rendered, *where, FILE])), *where, sorted(names))
        for where, names in sorted(folders.items())
    ]


def add_shared_files(plan: ChangeSet, workspace: Workspace, options: BuildOptions, cache: BuildCache) -> None:
    """Plan the files that jobs share. Only the first shard does this."""
    _add_lists(plan, workspace, options, cache)
    _add_snapshots(plan, workspace)
    _add_attributes(plan, workspace)


def _add_lists(plan: ChangeSet, workspace: Workspace, options: BuildOptions, cache: BuildCache) -> None:
    """A list with content other than folders was edited by hand, which is an error."""
    repository, ids = workspace.repository, workspace.locks.ids()
    named = options.environments or {job[0] for job in ids} if options.prunes else ()
    environments = {*named, *(job[0] for job in (*plan.jobs, *plan.elsewhere))}
    for each in shared_lists(repository.settings.rendered, ids, plan.remaining(workspace)):
        if each.environment not in environments:
            continue
        plan.lists[each.file] = each.folders
        if cache.has_list(each.file, each.folders):
            continue
        found, wanted = paths.file_bytes(repository.root, each.file), each.wanted
        if found == wanted:
            continue
        if found is not None and folders_in(found) is None:
            plan.conflicts.append(edited_by_hand(each.file))
        else:
            plan.files[each.file] = wanted


def _add_snapshots(plan: ChangeSet, workspace: Workspace) -> None:
    """Write the available snapshots that locks name; remove those that no lock names."""
    locks, pinned, are_sound = workspace.locks, set(plan.pinned), True
    left = [job for job in locks.ids() if job not in plan.locked]
    staying = [job for job in left if job not in plan.elsewhere and job not in plan.gone]
    for file in locks.passing(staying):
        if isinstance(file, LockFile):
            pinned.update(digest for lock in filter(None, [file.lock, file.previous]) for digest in lock.pins.snapshots)
        else:
            are_sound = False
    plan.files |= {snapshot_file(digest): each.text for digest, each in plan.snapshots.items()}
    unused = set(paths.snapshots(workspace.repository.root)) - pinned
    if unused and are_sound and all(isinstance(file, LockFile) for file in locks.passing(left)):
        plan.files |= {snapshot_file(digest): None for digest in sorted(unused)}


def _add_attributes(plan: ChangeSet, workspace: Workspace) -> None:
    """Mark generated files in a new `.gitattributes`; an existing one belongs to the user."""
    repository = workspace.repository
    found = paths.file_bytes(repository.root, ATTRIBUTES)
    if found is None and plan.remaining(workspace):
        plan.files[ATTRIBUTES] = _TEXT.format(repository.settings.rendered).encode()
    elif found is not None and plan.files | plan.jobs and not _marks(found, repository.settings.rendered):
        plan.conflicts.append(_unmarked(repository.settings.rendered))


def _marks(attributes: bytes, rendered: str) -> bool:
    lines = [line.lstrip("/") for line in attributes.decode(errors="replace").splitlines()]
    return any(line.startswith(f"{rendered}/") and "linguist-generated" in line for line in lines)


def _unmarked(rendered: str) -> Diagnostic:
    hint = f"add the line: {rendered}/** -text linguist-generated=true"
    message = f"does not mark {rendered}/ as generated, so pull requests do not collapse it"
    problem = file_error("TF716", ATTRIBUTES, message, hint)
    return Diagnostic("TF716", "info", problem.message, problem.hint, place=problem.place)

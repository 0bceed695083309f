"""Files that no single job owns: those of namespaces, snapshots and `.gitattributes`. None of them lists what others
own, so two branches never disagree about one."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from typing import TYPE_CHECKING

from trainform.diagnostics import Diagnostic
from trainform.diagnostics.order import counted
from trainform.io import paths
from trainform.io.paths import LOCKS, snapshot_file
from trainform.io.place import file_error
from trainform.output import flux
from trainform.output.kustomization import FILE
from trainform.output.layout import job_folder
from trainform.workspace.lockfile import LockFile
from trainform.workspace.shared.survey import Finding, Survey
from trainform.workspace.state import edited_by_hand

if TYPE_CHECKING:
    from trainform.workspace.discovery import Workspace
    from trainform.workspace.plan import BuildOptions, ChangeSet

ATTRIBUTES = ".gitattributes"
_TEXT = """\
# Written by trainform, byte for byte: collapsed in pull requests, and never merged line by line.
{0}/** -text -merge linguist-generated=true
.trainform/** -text -merge linguist-generated=true
"""
_EARLIER_TEXT = """\
# Written by trainform, byte for byte: folded in pull requests.
{0}/** -text linguist-generated=true
.trainform/** -text linguist-generated=true
# Two branches may add a job each: both lines are kept.
{0}/*/kustomization.yaml merge=union
{0}/*/*/kustomization.yaml merge=union
"""


def add_shared_files(plan: ChangeSet, workspace: Workspace, options: BuildOptions) -> None:
    """Plan the files that jobs share. Only the first shard does this."""
    _add_namespaces(plan, workspace, options)
    _add_snapshots(plan, workspace, options)
    _add_attributes(plan, workspace)


def _add_namespaces(plan: ChangeSet, workspace: Workspace, options: BuildOptions) -> None:
    """A run about some jobs only adds what their namespaces lack."""
    survey = Survey.of(workspace, plan.remaining(workspace))
    if options.prunes:
        findings: Iterable[Finding] = survey.findings()
    else:
        findings = survey.lacking({job[:2] for job in plan.jobs})
    going = {job_folder(workspace.repository.settings.rendered, *job) for job in plan.gone}
    for each in findings:
        if each.state == "foreign" and posixpath.dirname(each.path) in going:
            continue  # a manifest that this run, or that of another shard, removes
        if not options.environments or _environment(each.path, workspace) in options.environments:
            _settle(each, plan)


def _settle(finding: Finding, plan: ChangeSet) -> None:
    if finding.state == "missing":
        plan.files[finding.path] = finding.wanted
    elif finding.state == "outdated":
        plan.files[finding.path] = None
        plan.lists_removed += finding.path.endswith(f"/{FILE}")
    elif finding.state == "edited":
        plan.conflicts.append(edited_by_hand(finding.path))
    else:
        plan.conflicts.append(_foreign(finding.path))


def _environment(path: str, workspace: Workspace) -> str:
    """The environment that a path of the layout belongs to."""
    for above in (f"{workspace.repository.settings.rendered}/", f"{LOCKS}/"):
        if path.startswith(above):
            first, *rest = path.removeprefix(above).split("/")
            return rest[0] if first == flux.FOLDER and rest else first
    return ""


def _foreign(path: str) -> Diagnostic:
    message = "trainform did not write this, and an engine may apply it"
    problem = file_error("TF731", path, message, "move it elsewhere, or remove it")
    return problem._replace(severity="warning")


def lists_removed(count: int) -> Diagnostic:
    """What to do about Argo CD and Flux before the lists of an earlier version are gone."""
    message = f"{counted(count, 'list')} of an earlier version ({FILE}) removed: engines now read plain folders"
    hint = 'before you merge this, apply the new bootstrap: docs/gitops.md, "Coming from an earlier version"'
    return Diagnostic("TF732", "warning", message, hint)


def _add_snapshots(plan: ChangeSet, workspace: Workspace, options: BuildOptions) -> None:
    """Write the available snapshots that locks name. Unused ones stay unless asked for: a job of another branch may
    need one, and git would merge its removal cleanly."""
    plan.files |= {snapshot_file(digest): each.text for digest, each in plan.snapshots.items()}
    if options.prune_snapshots and (pinned := _pinned(plan, workspace)) is not None:
        unused = set(paths.snapshots(workspace.repository.root)) - pinned
        plan.files |= {snapshot_file(digest): None for digest in sorted(unused)}
        plan.removed += sorted(map(snapshot_file, unused))


def _pinned(plan: ChangeSet, workspace: Workspace) -> set[str] | None:
    """The snapshots that any lock will name; None if a lock cannot be read."""
    locks, pinned = workspace.locks, {*plan.pinned, *plan.snapshots}
    left = [job for job in locks.ids() if job not in plan.locked and job not in plan.gone]
    for file in locks.passing(left):
        if not isinstance(file, LockFile):
            return None
        pinned.update(digest for lock in filter(None, [file.lock, file.previous]) for digest in lock.pins.snapshots)
    return pinned


def _add_attributes(plan: ChangeSet, workspace: Workspace) -> None:
    """Mark generated files in a new `.gitattributes`, or in an earlier version's; any other belongs to the user."""
    rendered = workspace.repository.settings.rendered
    found = paths.file_bytes(workspace.repository.root, ATTRIBUTES)
    if found == _EARLIER_TEXT.format(rendered).encode() or (found is None and plan.remaining(workspace)):
        plan.files[ATTRIBUTES] = _TEXT.format(rendered).encode()
    elif found is not None and plan.files | plan.jobs and not _marks(found, rendered):
        plan.conflicts.append(_unmarked(rendered))


def _marks(attributes: bytes, rendered: str) -> bool:
    lines = [line.lstrip("/") for line in attributes.decode(errors="replace").splitlines()]
    words = [line.split() for line in lines if line.startswith(f"{rendered}/")]
    return any("-merge" in each and any("linguist-generated" in word for word in each) for each in words)


def _unmarked(rendered: str) -> Diagnostic:
    hint = f"add the line: {rendered}/** -text -merge linguist-generated=true"
    message = f"does not mark {rendered}/ as generated: pull requests show it, and git merges manifests line by line"
    problem = file_error("TF716", ATTRIBUTES, message, hint)
    return Diagnostic("TF716", "info", problem.message, problem.hint, place=problem.place)

"""Checks that the keys and files that pods ask for are in the objects that they mount or read, as far as those are in
the repository."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from trainform.core.beside.contents import Keys, keys_of
from trainform.core.beside.placing import kind_of, provided
from trainform.diagnostics.order import counted
from trainform.diagnostics.suggest import did_you_mean, listed
from trainform.k8s.cluster.mounts import Lost, lost_files
from trainform.k8s.cluster.references import references
from trainform.k8s.tree import metadata_of, name_of, object_name, text

if TYPE_CHECKING:
    from trainform.core.jobset_view import JobSetView
    from trainform.core.plan import Plan
    from trainform.diagnostics import Path, Severity
    from trainform.k8s.tree import Tree


_TOLD = 20
"""Most of what one object lacks that is told one by one: thousands may be asked for, each with a hint to look for."""


class _Contents(NamedTuple):
    """What an object holds: its name as the user wrote it, its keys, also in order, and whether it is rendered with the
    job."""

    name: str
    keys: Keys
    in_order: Sequence[str]
    is_rendered: bool


def check_contents(plan: Plan, jobset: JobSetView) -> None:
    """An error for a key without which pods do not start, if the object comes with the job; a warning if others apply
    it, or if the pods start with an empty folder in the place of a file."""
    needed = [[*references(job.pod_spec)] for job in jobset.jobs]
    known = dict(_known(plan, {(each.kind, each.name) for found in needed for each in found}))
    if not known:
        return

    def keys(kind: str, name: str) -> Keys | None:
        return found.keys if (found := known.get((kind, name))) else None

    for job, wanted in zip(jobset.jobs, needed, strict=True):
        at = (*job.pod_path, "spec")
        missing: dict[str, list[tuple[str, Path]]] = {}
        by_name: dict[str, _Contents] = {}
        for reference in wanted:
            contents = known.get((reference.kind, reference.name))
            if contents is None or not reference.is_needed:
                continue
            by_name[contents.name] = contents
            missing.setdefault(contents.name, []).extend(
                (key, (*at, *path)) for key, path in reference.keys if key and key not in contents.keys
            )
        for name, lacking in missing.items():
            _tell_keys(plan, jobset.tree, by_name[name], lacking)
        lost: dict[str, list[Lost]] = {}
        for each in lost_files(job.pod_spec, keys):
            lost.setdefault(each.volume, []).append(each)
        for volume, files in lost.items():
            _tell_files(plan, jobset.tree, at, volume, files)


def _tell_keys(plan: Plan, tree: Tree, contents: _Contents, missing: Sequence[tuple[str, Path]]) -> None:
    severity: Severity = "error" if contents.is_rendered else "warning"
    for key, path in missing[:_TOLD]:
        message = f"{contents.name} has no key {key!r}: the pods would not start"
        hint = _hint(key, contents.in_order, "its keys are")
        plan.report_object(tree, path, "TF651", message, severity=severity, hint=hint)
    if more := missing[_TOLD:]:
        message = f"{contents.name} lacks {counted(len(more), 'more key')} from here on"
        plan.report_object(tree, more[0][1], "TF651", message, severity=severity)


def _tell_files(plan: Plan, tree: Tree, at: Path, volume: str, lost: Sequence[Lost]) -> None:
    for each in lost[:_TOLD]:
        why = "an empty folder is mounted instead" if each.path[-1] == "subPath" else "the program does not find it"
        message = f"volume {volume} has no file {each.file!r}: {why}"
        hint = _hint(each.file, each.files, "it has")
        plan.report_object(tree, (*at, *each.path), "TF651", message, severity="warning", hint=hint)
    if more := lost[_TOLD:]:
        message = f"volume {volume} lacks {counted(len(more), 'more file')} from here on"
        plan.report_object(tree, (*at, *more[0].path), "TF651", message, severity="warning")


def _hint(word: str, known: Sequence[str], head: str) -> str:
    return did_you_mean(word, known) or (f"{head} {listed(known)}" if known else "it is empty")


def _known(plan: Plan, wanted: Collection[tuple[str, str]]) -> Iterator[tuple[tuple[str, str], _Contents]]:
    """By the kind and name that pods refer to (`wanted`); what is rendered comes last. Nothing of an object with
    errors: keys of it may be missing because of those."""
    broken = {each.place for each in plan.diagnostics if each.severity == "error"}
    others = [*_unowned(plan, wanted), *(each.tree for each in plan.job_document.beside if each not in broken)]
    found = [(tree, tree, False) for tree in others]
    for tree in plan.objects:
        document = plan.beside.get(object_name(tree))
        if document is None or document not in broken:
            found.append((tree, document.tree if document else tree, True))
    for tree, written, is_rendered in found:
        if (kind := kind_of(tree)) and (keys := keys_of(tree)) is not None:
            name = f"{text(written, 'kind')} {name_of(written)}"
            yield (kind.provides, provided(tree)), _Contents(name, keys, sorted(keys), is_rendered)


def _unowned(plan: Plan, wanted: Collection[tuple[str, str]]) -> Iterator[Tree]:
    """Objects of no TrainJob that may be those of the job's namespace, if there is only one of a name."""
    for key in sorted(plan.unowned.keys() & wanted):
        here = [each for each in plan.unowned[key] if metadata_of(each).get("namespace") in (None, plan.namespace)]
        if len(here) == 1:
            yield here[0]

"""Renders a job's companions: adds them to its objects, and makes its pods refer to them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from trainform.api.problems import SERVER_WRITTEN, Problem, server_written
from trainform.core.gitops import content_hash
from trainform.diagnostics import Path
from trainform.diagnostics.suggest import did_you_mean, listed
from trainform.k8s.cluster.references import references
from trainform.k8s.config_map import config_map_problems
from trainform.k8s.names import dns1123_subdomain, quoted
from trainform.k8s.rules.metadata import check_metadata
from trainform.k8s.rules.parts import Found
from trainform.k8s.tree import Tree, metadata_of, name_of, object_name, replaced, table, text, without_nulls
from trainform.source import Document

if TYPE_CHECKING:
    from trainform.core.plan import Plan

from trainform.core.beside.placing import Kind, kind_of, provided

MARKS = ("annotations", "labels")
HEAD = (*MARKS, "name", "namespace")
"""The fields of an object's metadata that are rendered."""

ADOPTION = "companions"
"""What an observer is told when companions were added."""


def adopt(plan: Plan) -> None:
    """Add the companions that the built pods refer to, and make the pods refer to the job's own copies."""
    jobset = plan.jobset
    if jobset is None or not plan.job_document.beside:
        return
    wanted: dict[tuple[str, str], list[Path]] = defaultdict(list)
    for job in jobset.jobs:
        for each in references(job.pod_spec):
            wanted[each.kind, each.name].append((*job.pod_path, "spec", *each.path))
    tree = jobset.tree
    for document in plan.job_document.beside:
        kind = kind_of(document.tree)
        assert kind is not None  # `with_companions` takes no others
        name = provided(document.tree)
        paths = wanted.get((kind.provides, name))
        if not paths:
            _unused(plan, document, kind, [each for of, each in wanted if of == kind.provides])
        elif (own := _own(plan, document, kind)) is not None:
            plan.objects.append(own)
            plan.beside[object_name(own)] = document
            for path in paths if provided(own) != name else ():
                tree = replaced(tree, path, provided(own))
    plan.objects = [tree if each is jobset.tree else each for each in plan.objects]


def _own(plan: Plan, document: Document, kind: Kind) -> Tree | None:
    """The job's own object; None if there can be none."""
    tree = document.tree
    if (refused := _refusal(plan, tree, kind)) is not None:
        code, severity, message, hint, path = refused
        plan.report(code, message, severity=severity, hint=hint, place=document, path=path)
        return None
    found = Found(config_map_problems(tree) if tree["kind"] == "ConfigMap" else ())
    check_metadata(metadata_of(tree), ("metadata",), found)
    for problem in found:
        plan.report(problem.code, problem.message, hint=problem.hint, place=document, path=problem.path)
    for each in _dropped(tree):
        plan.report(each.code, each.message, severity=each.severity, hint=each.hint, place=document, path=each.path)
    own = _copy(plan, tree) if kind.is_copied else _in_namespace(plan, tree)
    name = name_of(own)
    if reason := dns1123_subdomain(name):
        plan.report("TF301", quoted(name, reason), place=document, path=("metadata", "name"))
    if any(object_name(each) == object_name(own) for each in plan.objects):
        message = f"the job would have two objects {object_name(own)}"
        plan.report("TF645", message, hint="rename one of them", place=document, path=("metadata", "name"))
        return None
    return own


_Refusal = tuple[str, Any, str, str, Path]


def _refusal(plan: Plan, tree: Tree, kind: Kind) -> _Refusal | None:
    """Why an object cannot be a companion: code, severity, message, hint and path."""
    name, job, what = name_of(tree), plan.stable_name, text(tree, "kind")
    namespace = metadata_of(tree).get("namespace")
    if what == "Secret":
        message = f"Secret {name} is in the clear, and is not rendered: nothing that git holds is secret"
        hint = "use a SealedSecret or an ExternalSecret"
        return "TF646", "warning", message, hint, ("metadata", "name")
    if what == "ConfigMapGenerator":
        hint = "write a ConfigMap, or run trainform in the repository"
        return "TF648", "error", "a stream has no files beside it that could be read", hint, ("files",)
    if namespace not in (None, plan.namespace):
        message = f"the pods of {job} run in namespace {plan.namespace}, and cannot refer to {what} {name} elsewhere"
        return "TF644", "error", message, f"write namespace: {plan.namespace}, or none", ("metadata", "namespace")
    if not kind.is_copied and name != job and not name.startswith(f"{job}-"):
        why = "it can be decrypted under this name only" if what == "SealedSecret" else "it holds data"
        message = f"{what} {name} is not rendered: {why}, so there can be no copy for each job"
        hint = f"call it {job}-{name} to have it rendered with the job, or apply it yourself and move it elsewhere"
        return "TF644", "warning", message, hint, ("metadata", "name")
    return None


def _copy(plan: Plan, tree: Tree) -> Tree:
    """The job's own copy. That of a ConfigMap has the hash in its name, its own or the job's: a changed one is another
    object, and pods that run keep theirs."""
    base = name_of(tree).removeprefix(f"{plan.stable_name}-")
    is_config = tree["kind"] == "ConfigMap"
    copy = _named(plan, tree, f"{plan.name if is_config else plan.stable_name}-{base}")
    if is_config and not plan.destination.hashes_names:
        return _named(plan, copy, f"{name_of(copy)}-{content_hash([copy])}")
    if text(table(table(tree, "spec"), "target"), "name"):
        secret = provided(tree).removeprefix(f"{plan.stable_name}-")
        return replaced(copy, ("spec", "target", "name"), f"{plan.stable_name}-{secret}")  # type: ignore[no-any-return]
    return copy


def _in_namespace(plan: Plan, tree: Tree) -> Tree:
    return _named(plan, tree, name_of(tree))


def _named(plan: Plan, tree: Tree, name: str) -> Tree:
    tree = without_nulls(tree)
    marks = {key: value for key, value in metadata_of(tree).items() if key in MARKS and value}
    own = {key: value for key, value in tree.items() if key != "status"}
    return {**own, "metadata": {"name": name, "namespace": plan.namespace, **marks}}


def _dropped(tree: Tree) -> Iterator[Problem]:
    """What the rendered object does not have of the one that was written."""
    if tree.get("status") is not None:
        yield server_written(("status",))
    for field, value in metadata_of(tree).items():
        if value is None or field in HEAD:
            continue
        path: Path = ("metadata", field)
        if field in SERVER_WRITTEN["metadata"]:
            yield server_written(path)
        else:
            yield Problem(path, "TF101", "unknown field", did_you_mean(field, HEAD) or f"known fields: {listed(HEAD)}")


def _unused(plan: Plan, document: Document, kind: Kind, names: Sequence[str]) -> None:
    """Tell that an object is not rendered; it may be one for others."""
    name = provided(document.tree)
    plan.report(
        "TF204",
        f"{kind.provides} {name} is ignored: no pod of {plan.stable_name} refers to it",
        severity="info",
        hint=did_you_mean(name, names),
        place=document,
        path=("metadata", "name"),
    )

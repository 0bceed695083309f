"""Checks of the finished objects: their schemas, and the rules of the webhooks that admit them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainform.core.blame import blame
from trainform.k8s.rules import jobset as jobset_rules
from trainform.k8s.schema import validate as schema
from trainform.k8s.schema.validate import SchemaProblem
from trainform.k8s.tree import Tree, object_name

if TYPE_CHECKING:
    from trainform.core.plan import Plan
    from trainform.diagnostics import Severity

SCHEMAS = {
    ("jobset.x-k8s.io/v1alpha2", "JobSet"): "JobSet",
    ("scheduling.x-k8s.io/v1alpha1", "PodGroup"): "coscheduling PodGroup",
    ("scheduling.volcano.sh/v1beta1", "PodGroup"): "volcano PodGroup",
    ("v1", "ConfigMap"): "ConfigMap",
}


def check_objects(plan: Plan) -> None:
    """Report what the API server would refuse of `plan.objects`, at the source that set it."""
    for tree in plan.objects:
        kind = SCHEMAS.get((tree["apiVersion"], tree["kind"]))
        if kind is None:
            continue
        for problem in schema.check(kind, tree):
            _report(plan, tree, problem)
        if kind == "JobSet" and "spec" not in tree:  # the API server would take it, and nothing would ever run
            _report(plan, tree, SchemaProblem(("spec",), "TF103", "is required but missing", "a patch removed it"))
        if tree["kind"] == "PodGroup":
            _tell_members(plan, tree)
        if kind == "JobSet":
            for problem in jobset_rules.check(tree, len(plan.name) - len(plan.stable_name)):
                warned = problem.code in jobset_rules.WARNINGS
                _report(plan, tree, problem, "warning" if warned else "error")


def misshapen(plan: Plan) -> bool:
    """Whether something in `plan.objects` is of another type than the API has there, or lacks what holds all else."""
    for tree in plan.objects:
        kind = SCHEMAS.get((tree["apiVersion"], tree["kind"]))
        if kind == "JobSet" and "spec" not in tree:
            return True
        for problem in schema.check(kind, tree) if kind else ():
            if problem.code == "TF102" or (problem.code == "TF103" and problem.path[-1] in ("spec", "template")):
                return True
    return False


def _tell_members(plan: Plan, tree: Tree) -> None:
    """A node count that the TrainJob may not have is what would become of the gang's `minMember`."""
    for index, told in enumerate(plan.diagnostics):
        if told.severity == "error" and told.path == ("spec", "trainer", "numNodes") and not told.object:
            name = object_name(tree)
            plan.diagnostics[index] = told._replace(object=name, object_path=("spec", "minMember"))


def _report(plan: Plan, tree: Tree, problem: SchemaProblem, severity: Severity = "error") -> None:
    """Tell a problem of a rendered object once: an error that its source has already gets to name
    the object, instead of a second one."""
    source, path = blame(plan, tree, problem.path)
    name = object_name(tree)
    for index, told in enumerate(plan.diagnostics):
        if told.severity == severity == "error" and told.place is source and told.path == path and not told.object:
            plan.diagnostics[index] = told._replace(object=name, object_path=problem.path)
            return
    plan.report(
        problem.code,
        problem.message,
        severity=severity,
        hint=problem.hint,
        path=path,
        place=source,
        object=name,
        object_path=problem.path,
    )

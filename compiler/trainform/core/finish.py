"""The last step of a job: patch its built objects, normalize them to the API server's form, and check them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainform.core.cluster.checks import check_cluster
from trainform.core.gitops import annotate
from trainform.k8s.defaults import admit
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
    ("v1", "PersistentVolumeClaim"): "PersistentVolumeClaim",
    ("external-secrets.io/v1", "ExternalSecret"): "ExternalSecret",
    ("external-secrets.io/v1beta1", "ExternalSecret"): "ExternalSecret",
    ("bitnami.com/v1alpha1", "SealedSecret"): "SealedSecret",
}
OF_OTHERS = ("ExternalSecret", "SealedSecret")
"""Kinds of which a cluster may have a newer release that knows more fields."""

REPLICATED_JOB = ("name", "groupName", "replicas", "dependsOn")
JOB = ("parallelism", "completions", "completionMode", "backoffLimit", "activeDeadlineSeconds")
CONTAINER = ("name", "image", "command", "args", "env", "envFrom", "ports", "resources")


def finish(plan: Plan) -> bool:
    """Apply the final patches, normalize the objects to the API server's form, annotate them for their GitOps engine,
    and check them. False if patches broke an object's shape: only that is reported then, and no plugin may look at the
    objects."""
    plan.patch()
    if plan.destination.patches and misshapen(plan):
        check_objects(plan)
        return False
    plan.objects = [readable(admit(tree)) for tree in plan.objects]
    plan.objects.sort(key=kind_order)
    annotate(plan)
    check_objects(plan)
    check_cluster(plan)
    return True


def kind_order(tree: Tree) -> int:
    """Sort key: ConfigMaps, other companions, PodGroup, JobSet. What pods need comes before the pods."""
    return {"ConfigMap": 0, "PodGroup": 2, "JobSet": 3}.get(tree["kind"], 1)


def readable(tree: Tree) -> Tree:
    """A copy of a JobSet with counts and commands first and empty metadata dropped (the API server treats empty and
    absent alike). Other objects are returned unchanged."""
    if tree["kind"] != "JobSet":
        return tree
    spec = tree["spec"]
    return {**tree, "spec": {**spec, "replicatedJobs": list(map(_job, spec.get("replicatedJobs") or ()))}}


def _job(job: Tree) -> Tree:
    template = job["template"]
    pod = template["spec"]["template"]
    pod_spec = dict(pod["spec"])
    for kind in ("initContainers", "containers"):
        if pod_spec.get(kind):
            pod_spec[kind] = [_first(CONTAINER, container) for container in pod_spec[kind]]
    job_spec = _first(JOB, template["spec"])
    job_spec["template"] = _with_spec(pod, pod_spec)
    first = _first(REPLICATED_JOB, job)
    first["template"] = _with_spec(template, job_spec)
    return first


def _first(head: tuple[str, ...], tree: Tree) -> Tree:
    """A copy with the keys in `head` first."""
    return {key: tree[key] for key in head if key in tree} | tree


def _with_spec(template: Tree, spec: Tree) -> Tree:
    """A copy of a template with this spec, preceded by its metadata unless that is empty."""
    metadata = template.get("metadata")
    copy = {"metadata": metadata} | template if metadata else template.copy()
    if not metadata:
        copy.pop("metadata", None)
    copy["spec"] = spec
    return copy


def check_objects(plan: Plan) -> None:
    """Report what the API server would reject in `plan.objects`, at the source that set it."""
    for tree in plan.objects:
        kind = SCHEMAS.get((tree["apiVersion"], tree["kind"]))
        if kind is None:
            continue
        for problem in schema.check(kind, tree):
            _report(plan, tree, problem, "warning" if kind in OF_OTHERS and problem.code == "TF101" else "error")
        if kind == "JobSet" and "spec" not in tree:  # the API server would accept it, and nothing would ever run
            _report(plan, tree, SchemaProblem(("spec",), "TF103", "is required but missing", "a patch removed it"))
        if tree["kind"] == "PodGroup":
            _tell_members(plan, tree)
        if kind == "JobSet":
            for problem in schema.first(iter(jobset_rules.check(tree, len(plan.name) - len(plan.stable_name)))):
                warned = problem.code in jobset_rules.WARNINGS
                _report(plan, tree, problem, "warning" if warned else "error")


def misshapen(plan: Plan) -> bool:
    """Whether a field of `plan.objects` has the wrong type, or a `spec` or `template` is missing."""
    for tree in plan.objects:
        kind = SCHEMAS.get((tree["apiVersion"], tree["kind"]))
        if kind == "JobSet" and "spec" not in tree:
            return True
        for problem in schema.check(kind, tree) if kind else ():
            if problem.code == "TF102" or (problem.code == "TF103" and problem.path[-1] in ("spec", "template")):
                return True
    return False


def _tell_members(plan: Plan, tree: Tree) -> None:
    """A TrainJob's invalid node count ends up in the gang's `minMember`: name that field in its error."""
    for index, told in enumerate(plan.diagnostics):
        if told.severity == "error" and told.path == ("spec", "trainer", "numNodes") and not told.object:
            name = object_name(tree)
            plan.diagnostics[index] = told._replace(object=name, object_path=("spec", "minMember"))


def _report(plan: Plan, tree: Tree, problem: SchemaProblem, severity: Severity = "error") -> None:
    """Report a problem of a rendered object once. If its source already has an error, add the object's name to that one
    instead."""
    source, path = plan.blame(tree, problem.path)
    name = object_name(tree)
    for index, told in enumerate(plan.diagnostics):
        if told.severity == severity == "error" and told.place is source and told.path == path and not told.object:
            plan.diagnostics[index] = told._replace(object=name, object_path=problem.path)
            return
    plan.report_object(tree, problem.path, problem.code, problem.message, severity=severity, hint=problem.hint)

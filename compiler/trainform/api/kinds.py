"""Recognizes our documents by `apiVersion` and `kind`."""

from __future__ import annotations

from typing import Any, Literal

from trainform.api.problems import Problem
from trainform.diagnostics.suggest import did_you_mean, nearest
from trainform.k8s.fact_kinds import FACT_VERSIONS

Subject = Literal["job", "runtime", "environment", "generator", "fact", "other"]

API_VERSION = "trainer.kubeflow.org/v1alpha1"
TRAINER_KINDS: dict[str, Subject] = {
    "TrainJob": "job",
    "TrainingRuntime": "runtime",
    "ClusterTrainingRuntime": "runtime",
}
UPSTREAM_ONLY = ("OptimizationJob",)
"""Kinds in the Trainer's group that a compiler ignores."""

V1_JOBS = ("JAXJob", "MPIJob", "PaddleJob", "PyTorchJob", "TFJob", "XGBoostJob")
"""Kinds of the Training Operator and the MPI Operator in group kubeflow.org."""

ENVIRONMENT_GROUP = "trainform.dev"
ENVIRONMENT_VERSION = "trainform.dev/v1alpha1"
FACTS = frozenset((versions[0].rpartition("/")[0], kind.partition(".")[0]) for kind, versions in FACT_VERSIONS.items())
"""Group and kind of cluster facts that an Environment may declare."""


def subject(tree: Any) -> tuple[Subject, list[Problem]]:
    """What a document is, and problems of its apiVersion and kind. A Trainer kind of another API version is still read,
    to report its other problems."""
    if not isinstance(tree, dict):
        hint = "write apiVersion, kind, metadata and spec"
        return "other", [Problem((), "TF102", "expected a Kubernetes object", hint)]
    problems = [*_head(tree, "apiVersion"), *_head(tree, "kind")]
    api_version, kind = tree.get("apiVersion"), tree.get("kind")
    if not isinstance(kind, str):
        return "other", problems
    if kind in TRAINER_KINDS:
        return TRAINER_KINDS[kind], problems or _other_version(api_version, kind, API_VERSION)
    return ("other", problems) if problems else _other_group(str(api_version), kind)


def _head(tree: dict[str, Any], key: str) -> list[Problem]:
    value = tree.get(key)
    if isinstance(value, str) and value:
        return []
    example = API_VERSION if key == "apiVersion" else "TrainJob"
    code, what = ("TF103", "is missing") if value in (None, "") else ("TF102", "must be a string")
    wrong = next((name for name in tree if name != key and name.lower() == key.lower()), "")
    hint = f'rename "{wrong}" to {key}' if wrong else f"write {key}: {example}"
    return [Problem((key,), code, f'"{key}" {what}', hint, leave_out=())]


def _other_version(api_version: object, kind: str, version: str) -> list[Problem]:
    """The problem if `api_version` is not `version`, the only one with this kind."""
    if api_version == version:
        return []
    message = f'apiVersion "{api_version}" has no kind {kind}'
    return [Problem(("apiVersion",), "TF205", message, f"write apiVersion: {version}", leave_out=())]


def _other_group(api_version: str, kind: str) -> tuple[Subject, list[Problem]]:
    group = api_version.rpartition("/")[0]
    if (group, kind) in FACTS:
        return "fact", []
    if group == ENVIRONMENT_GROUP:
        return _of_ours(api_version, kind)
    if group == "kubeflow.org" and kind in V1_JOBS:
        return "other", [_v1_job(api_version, kind)]
    if group == "trainer.kubeflow.org" and kind not in UPSTREAM_ONLY and nearest(kind, TRAINER_KINDS):
        message = f'{API_VERSION} has no kind "{kind}"'
        return "other", [Problem(("kind",), "TF205", message, did_you_mean(kind, TRAINER_KINDS))]
    message = f"{kind} ({api_version}) is ignored: it is not a job, a runtime or a cluster fact"
    return "other", [Problem(("kind",), "TF204", message, severity="info")]


def is_of_ours(tree: dict[str, Any]) -> bool:
    """Whether a document's group or kind is ours, even if the other is wrong."""
    return tree.get("kind") == "Environment" or str(tree.get("apiVersion")).rpartition("/")[0] == ENVIRONMENT_GROUP


def _of_ours(api_version: str, kind: str) -> tuple[Subject, list[Problem]]:
    """A document of our group that is no fact."""
    if kind == "ConfigMapGenerator":
        return "generator", _other_version(api_version, kind, ENVIRONMENT_VERSION)
    if kind != "Environment":
        message = f'{ENVIRONMENT_VERSION} has no kind "{kind}"'
        hint = did_you_mean(kind, ("NodePool", "ConfigMapGenerator")) or "write kind: Environment"
        return "other", [Problem(("kind",), "TF205", message, hint)]
    return "environment", _other_version(api_version, kind, ENVIRONMENT_VERSION)


def _v1_job(api_version: str, kind: str) -> Problem:
    message = f"{kind} ({api_version}) is outdated: use a TrainJob ({API_VERSION}) instead"
    hint = "`trainform migrate FILE` makes a TrainJob of it"
    return Problem(("kind",), "TF205", message, hint)

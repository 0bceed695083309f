"""One TrainJob compiled for an Environment, from a few words about either."""

from __future__ import annotations

from typing import Any

import yaml

from trainform import compile_stream

Tree = dict[str, Any]

IMAGE = f"llm@sha256:{0:064}"
STEP = "trainer.kubeflow.org/trainjob-ancestor-step"


def compiled(
    *facts: Tree,
    scheduling: Tree | None = None,
    cluster: Tree | None = None,
    nodes: int = 4,
    labels: Tree | None = None,
    note: Tree | None = None,
    job: Tree | None = None,
    pod: Tree | None = None,
    annotations: Tree | None = None,
    steps: tuple[Tree, ...] = (),
    template: Tree | None = None,
    runtime: Tree | None = None,
    environment: Tree | None = None,
) -> Tree:
    """The RenderResult for job `team-a/llm` of `nodes` pods in step `node`; without `scheduling`, `cluster`
    or `environment` there is no Environment.

    `labels` and `note` (annotations) are the TrainJob's, `pod` and `annotations` those of the pods of
    `node`; `steps` are other replicated jobs, `template` the labels of the JobSet's template, `runtime`
    and `job` further parts of either's spec.
    """
    replicated_jobs = [step("node", pod=pod, annotations=annotations, trainer=True), *steps]
    documents = [
        _document("ClusterTrainingRuntime", "plain", {
            "mlPolicy": {"numNodes": 1},
            "template": {"metadata": {"labels": template or {}}, "spec": {"replicatedJobs": replicated_jobs}},
            **(runtime or {}),
        }),
        _document("TrainJob", "llm", {
            "runtimeRef": {"name": "plain"}, "trainer": {"numNodes": nodes}, **(job or {})
        }, namespace="team-a", labels=labels or {}, annotations=note or {}),
        *facts,
    ]  # fmt: skip
    if scheduling is not None or cluster is not None or environment is not None:
        spec = {"scheduling": scheduling or {}, "cluster": cluster or {}, **(environment or {})}
        documents.append(_document("Environment", "prod", spec, version="trainform.dev/v1alpha1"))
    return compile_stream(yaml.safe_dump_all(documents))


def step(
    name: str,
    *,
    trainer: bool = False,
    pod: Tree | None = None,
    annotations: Tree | None = None,
    **fields: Any,
) -> Tree:
    """A replicated job of one container."""
    spec = {"containers": [{"name": "node", "image": IMAGE}], **(pod or {})}
    pods = {"metadata": {"annotations": annotations or {}}, "spec": spec}
    labels = {STEP: "trainer"} if trainer else {}
    return {"name": name, **fields, "template": {"metadata": {"labels": labels}, "spec": {"template": pods}}}


def fact(kind: str, name: str, spec: Tree | None = None, **head: Any) -> Tree:
    """An object of Kueue's API, or of `version`."""
    version = head.pop("version", "kueue.x-k8s.io/v1beta2")
    return _document(kind, name, spec or {}, version=version, **head)


def codes(result: Tree, *severities: str) -> list[str]:
    """The codes of what was told: by default of errors and warnings."""
    told = [*result["diagnostics"], *result["jobs"][0]["diagnostics"]]
    return sorted(d["code"] for d in told if d["severity"] in (severities or ("error", "warning")))


def the(result: Tree, code: str) -> Tree:
    """The one diagnostic with `code`."""
    told = [*result["diagnostics"], *result["jobs"][0]["diagnostics"]]
    (found,) = [d for d in told if d["code"] == code]
    return dict(found)


def objects(result: Tree) -> dict[str, Tree]:
    """By kind; no job may have failed."""
    assert codes(result, "error") == []
    return {tree["kind"]: tree for tree in result["jobs"][0]["objects"]}


def pods_of(result: Tree) -> dict[str, Tree]:
    """The pod templates by step, with `metadata` in any case."""
    jobs = objects(result)["JobSet"]["spec"]["replicatedJobs"]
    return {job["name"]: {"metadata": {}, **job["template"]["spec"]["template"]} for job in jobs}


def _document(kind: str, name: str, spec: Tree, **head: Any) -> Tree:
    version = head.pop("version", "trainer.kubeflow.org/v1alpha1")
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, **head}, "spec": spec}

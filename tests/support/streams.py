"""Small TrainJobs and runtimes as trees, and what they compile to."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from trainform.core.catalogue import Catalogue
from trainform.core.compile import Compilation, compile_documents
from trainform.core.plugin import Plugin
from trainform.diagnostics import Diagnostic
from trainform.installed import load_plugins
from trainform.io.resources import shipped_runtimes
from trainform.source import load

Tree = dict[str, Any]

API = "trainer.kubeflow.org/v1alpha1"
STEP = "trainer.kubeflow.org/trainjob-ancestor-step"


def replicated_job(name: str = "node", step: str = "trainer", *, pod: Tree | None = None, **node: Any) -> Tree:
    """A replicated job of one `node` container; `pod` are further fields of its pod spec."""
    containers = [{"name": "node", "image": "train:1", **node}]
    template: Tree = {"spec": {"template": {"spec": {"containers": containers, **(pod or {})}}}}
    if step:
        template["metadata"] = {"labels": {STEP: step}}
    return {"name": name, "template": template}


def runtime(
    name: str = "rt",
    *jobs: Tree,
    kind: str = "ClusterTrainingRuntime",
    namespace: str = "",
    policy: Tree | None = None,
    **spec: Any,
) -> Tree:
    metadata = {"name": name, "namespace": namespace} if namespace else {"name": name}
    template = {"spec": {"replicatedJobs": list(jobs or (replicated_job(),))}}
    spec = {"mlPolicy": policy or {"numNodes": 1}, "template": template, **spec}
    return {"apiVersion": API, "kind": kind, "metadata": metadata, "spec": spec}


def job(name: str = "llm", runtime: str = "rt", *, namespace: str = "ml", kind: str = "", **spec: Any) -> Tree:
    ref = {"name": runtime, "kind": kind} if kind else {"name": runtime}
    metadata = {"name": name, "namespace": namespace} if namespace else {"name": name}
    return {"apiVersion": API, "kind": "TrainJob", "metadata": metadata, "spec": {"runtimeRef": ref, **spec}}


def patch(*jobs: Tree, manager: str = "example.com/me", **template: Any) -> Tree:
    """A runtimePatch of the given replicated jobs."""
    template = {"spec": {"replicatedJobs": list(jobs)}, **template}
    return {"manager": manager, "trainingRuntimeSpec": {"template": template}}


def pod_patch(name: str = "node", **pod_spec: Any) -> Tree:
    """What a patch says of the pods of the replicated job `name`."""
    return {"name": name, "template": {"spec": {"template": {"spec": pod_spec}}}}


def stream(*objects: Any) -> str:
    """The objects as one YAML stream, one line each."""
    return "".join(f"---\n{json.dumps(tree)}\n" for tree in objects)


def compiled(*objects: Any, plugins: Sequence[Plugin] | None = None) -> Compilation:
    return compiled_text(stream(*objects), plugins=plugins)


def compiled_text(text: str, *, plugins: Sequence[Plugin] | None = None) -> Compilation:
    loaded = load(text, "<stdin>")
    return compile_documents(
        loaded.documents,
        catalogue=Catalogue(dict(shipped_runtimes())),
        plugins=load_plugins() if plugins is None else plugins,
        source=loaded.diagnostics,
    )


def errors(compilation: Compilation) -> list[Diagnostic]:
    """All errors, the stream's own first."""
    told = [*compilation.diagnostics, *(d for job in compilation.jobs for d in job.diagnostics)]
    return [diagnostic for diagnostic in told if diagnostic.severity == "error"]


def jobset(compilation: Compilation, index: int = 0) -> Tree:
    """The JobSet of one of the jobs, which must have compiled."""
    assert errors(compilation) == []
    return next(tree for tree in compilation.jobs[index].objects if tree["kind"] == "JobSet")


def pod_spec(compilation: Compilation, replicated_job: int = 0) -> Tree:
    """The pod spec of one of the replicated jobs of the first job."""
    template = jobset(compilation)["spec"]["replicatedJobs"][replicated_job]["template"]
    spec: Tree = template["spec"]["template"]["spec"]
    return spec

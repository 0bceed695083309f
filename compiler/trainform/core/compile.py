"""The compiler: documents in, each job's finished objects and problems out. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trainform.api import Runtime, TrainJob, deprecation
from trainform.core.check import check_objects
from trainform.core.companions import attach
from trainform.core.inputs import DEFAULT_NAMESPACE, Input, Inputs, sort
from trainform.core.link import find_runtime
from trainform.core.patches import apply_runtime_patches
from trainform.core.pipeline import Pipeline, PluginFailure
from trainform.core.plan import Plan, Trainer
from trainform.core.pod_set import PodSet
from trainform.core.readable import readable
from trainform.core.trainer import merge_resources_per_node
from trainform.diagnostics import Diagnostic
from trainform.k8s.defaults import admit
from trainform.source import Document

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trainform.core.catalogue import Catalogue
    from trainform.core.plugin import Plugin
    from trainform.k8s.tree import Tree


@dataclass(frozen=True, slots=True, eq=False)
class CompiledJob:
    """One TrainJob's result: `objects` is empty when any diagnostic is an error."""

    name: str
    namespace: str
    environment: str
    document: Document
    objects: list[Tree] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    deviations: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, eq=False)
class Compilation:
    """All jobs in the order of their documents, and the problems that are no single job's.

    `failures` holds what plugins raised, for whoever debugs them.
    """

    jobs: list[CompiledJob]
    diagnostics: list[Diagnostic]
    failures: list[PluginFailure] = field(default_factory=list)


def compile_documents(
    documents: Iterable[Document],
    *,
    catalogue: Catalogue,
    plugins: Sequence[Plugin],
    source: Iterable[Diagnostic] = (),
    environment: str = "default",
) -> Compilation:
    """Compile every TrainJob among `documents`. Never raises for bad input.

    `source` are the problems that the front end found in them.
    """
    inputs = sort(documents, source)
    pipeline = Pipeline.of(plugins)
    failures: list[PluginFailure] = []
    jobs = [compile_job(item, inputs, catalogue, pipeline, environment, failures) for item in inputs.jobs]
    return Compilation(jobs, [*inputs.diagnostics, *_no_job(inputs)], failures)


def compile_job(
    item: Input,
    inputs: Inputs,
    catalogue: Catalogue,
    pipeline: Pipeline,
    environment: str,
    failures: list[PluginFailure],
) -> CompiledJob:
    """One TrainJob on its way: link, take apart, run the stages, admit, check."""
    job = item.model
    if not isinstance(job, TrainJob):
        return _result(item, environment, list(item.diagnostics))
    runtime, problems = find_runtime(job, item, inputs, catalogue)
    diagnostics = [*item.diagnostics, *problems]
    if runtime is None or not isinstance(runtime.model, Runtime):
        return _result(item, environment, diagnostics)
    plan = take_apart(job, item, runtime.model, runtime.document, inputs)
    plan.environment = environment
    attach(plan, runtime.companions)
    plan.diagnostics[:0] = [*diagnostics, *filter(None, [deprecation(runtime.model, item.document)])]
    try:
        pipeline.run(plan, finish)
    except PluginFailure as failure:
        failures.append(failure)
        plan.report("TF901", str(failure), hint="report this to the authors of the plugin")
    return _result(item, environment, plan.diagnostics, plan.objects, _deviations(plan, runtime))


def take_apart(
    job: TrainJob, item: Input, runtime: Runtime, runtime_document: Document, inputs: Inputs
) -> Plan:
    """A fresh plan: the runtime's template with the job's patches and resources merged in."""
    template = runtime.spec.template
    spec = dict(template.spec or {}) if template else {}
    replicated_jobs = spec.pop("replicatedJobs", None) or []
    plan = Plan(
        job,
        runtime,
        item.document,
        runtime_document,
        item.found,
        _metadata(job, runtime),
        spec,
        facts=inputs.facts,
        trainer=_trainer(job),
    )
    plan.pod_sets = [
        PodSet.of(tree, ("spec", "template", "spec", "replicatedJobs", index), plan.ledger)
        for index, tree in enumerate(apply_runtime_patches(plan, replicated_jobs))
    ]
    merge_resources_per_node(plan)
    return plan


def _trainer(job: TrainJob) -> Trainer:
    wanted = job.spec.trainer
    return Trainer(wanted.image, wanted.command, wanted.args, wanted.env or []) if wanted else Trainer()


def finish(plan: Plan) -> None:
    """Bring the built objects into the form that the API server stores, and check them."""
    plan.objects = [readable(admit(tree)) for tree in plan.objects]
    plan.objects.sort(key=_kind_order)
    check_objects(plan)


def _metadata(job: TrainJob, runtime: Runtime) -> Tree:
    """The JobSet's metadata: the job's name, and what the runtime's template is labelled with."""
    metadata: Tree = {"name": job.metadata.name, "namespace": job.metadata.namespace or DEFAULT_NAMESPACE}
    template = runtime.spec.template.metadata if runtime.spec.template else None
    if template and template.labels:
        metadata["labels"] = dict(template.labels)
    if template and template.annotations:
        metadata["annotations"] = dict(template.annotations)
    return metadata


def _kind_order(tree: Tree) -> int:
    """ConfigMaps, other companions, PodGroup, JobSet: what pods need comes before the pods."""
    return {"ConfigMap": 0, "PodGroup": 2, "JobSet": 3}.get(tree["kind"], 1)


def _deviations(plan: Plan, runtime: Input) -> list[str]:
    told = {d.code for d in (*plan.diagnostics, *runtime.diagnostics) if d.code.startswith("TFD")}
    return sorted(code.removeprefix("TF") for code in told)


def _result(
    item: Input,
    environment: str,
    diagnostics: list[Diagnostic],
    objects: Sequence[Tree] = (),
    deviations: Sequence[str] = (),
) -> CompiledJob:
    metadata = item.document.tree.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    failed = any(diagnostic.severity == "error" for diagnostic in diagnostics)
    told = sorted({d.code.removeprefix("TF") for d in diagnostics if d.code.startswith("TFD")})
    return CompiledJob(
        str(metadata.get("name") or ""),
        str(metadata.get("namespace") or DEFAULT_NAMESPACE),
        environment,
        item.document,
        [] if failed else list(objects),
        diagnostics,
        list(deviations or told),
    )


def _no_job(inputs: Inputs) -> list[Diagnostic]:
    """An error where no TrainJob is found, unless one may be in a document that could not be read."""
    if inputs.jobs or any(_may_hide_a_job(problem) for problem in inputs.diagnostics):
        return []
    hint = "a TrainJob has apiVersion: trainer.kubeflow.org/v1alpha1 and kind: TrainJob"
    return [Diagnostic("TF202", "error", "there is no TrainJob here", hint)]


def _may_hide_a_job(problem: Diagnostic) -> bool:
    """Whether a problem is of a text that is no document, or of a job of an older kind."""
    unread = problem.place is not None and not isinstance(problem.place, Document)
    return problem.severity == "error" and (unread or problem.code == "TF205")

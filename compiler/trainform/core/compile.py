"""The compiler: turns documents into each job's finished objects and problems. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from trainform.api import Read, Runtime, TrainJob, deprecation
from trainform.api.placeholders import with_hint
from trainform.api.runtime import FRAMEWORKS
from trainform.core.catalogue import find_runtime
from trainform.core.companions import own_copies
from trainform.core.destination import Destination
from trainform.core.finish import finish
from trainform.core.gang import effective_gang
from trainform.core.gitops import content_hash
from trainform.core.inputs import Input, Inputs, sort
from trainform.core.patches.runtime import apply_runtime_patches
from trainform.core.pipeline import Pipeline, PluginFailure
from trainform.core.plan import Plan
from trainform.core.pod_set import PodSet, TrainerFields
from trainform.core.provenance import Ledger
from trainform.core.trainer import merge_resources_per_node, record_trainer_fields
from trainform.diagnostics import Diagnostic
from trainform.diagnostics.order import has_errors
from trainform.source import Document

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trainform.core.catalogue import Catalogue
    from trainform.core.pipeline import Observer
    from trainform.core.plugin import Plugin
    from trainform.core.secrets import SecretNeed
    from trainform.k8s.tree import Tree


class CompiledJob(NamedTuple):
    """The result for one TrainJob. `objects` is empty if any diagnostic is an error; `secrets` (the key Secrets it
    needs) and `runtime` are set even then."""

    name: str
    namespace: str
    environment: str
    document: Document
    objects: list[Tree]
    diagnostics: list[Diagnostic]
    deviations: list[str]
    secrets: list[SecretNeed]
    runtime: Input | None


class Compilation(NamedTuple):
    """All jobs in document order, and the problems that belong to no single job. `failures`: exceptions raised by
    plugins. `inputs`: what the jobs were compiled from. `unmatched`: patches and settings of the Environment that
    matched no job; also in the diagnostics unless the compile was partial."""

    jobs: list[CompiledJob]
    diagnostics: list[Diagnostic]
    failures: list[PluginFailure]
    environment: str
    inputs: Inputs
    unmatched: list[Diagnostic]


class Shared(NamedTuple):
    """What all jobs of one compile share."""

    inputs: Inputs
    destination: Destination
    catalogue: Catalogue
    pipeline: Pipeline
    failures: list[PluginFailure]


def compile_documents(
    documents: Iterable[Document],
    *,
    catalogue: Catalogue,
    plugins: Sequence[Plugin],
    source: Iterable[Diagnostic] = (),
    cache: dict[Document, Read] | None = None,
    partial: bool = False,
    observe: Observer | None = None,
) -> Compilation:
    """Compile the TrainJobs in `documents`, for the Environment in them if there is one. Never raises for bad input.

    `source`: problems that the front end found. `cache`: parsed documents shared between environments. `partial`: these
    are not all jobs, so a patch that matches none of them is not an error. `observe`: called after each stage of each
    job.
    """
    work = prepare(documents, catalogue=catalogue, plugins=plugins, source=source, cache=cache, observe=observe)
    jobs = [compile_job(item, work.shared) for item in work.selected]
    return work.compilation(jobs, failed=any(has_errors(job.diagnostics) for job in jobs), partial=partial)


class Prepared(NamedTuple):
    """A compile before its first job: what all jobs share, and the jobs that the Environment selects."""

    shared: Shared
    selected: list[Input]

    def compilation(self, jobs: list[CompiledJob], *, failed: bool, partial: bool = False) -> Compilation:
        """The result after the last job. `failed`: a job has an error, so that patches may have missed it."""
        inputs, destination = self.shared.inputs, self.shared.destination
        unmatched = [] if failed else destination.unmatched()
        general = [] if partial else [*_no_job(inputs, self.selected), *unmatched]
        told = [*map(with_hint, inputs.diagnostics), *general]
        return Compilation(jobs, told, self.shared.failures, destination.name, inputs, unmatched)


def prepare(
    documents: Iterable[Document],
    *,
    catalogue: Catalogue,
    plugins: Sequence[Plugin],
    source: Iterable[Diagnostic] = (),
    cache: dict[Document, Read] | None = None,
    observe: Observer | None = None,
) -> Prepared:
    """Sort the documents by kind, and the jobs by whether they are this Environment's."""
    inputs = sort(documents, source, cache)
    shared = Shared(inputs, Destination.of(inputs), catalogue, Pipeline.of(plugins, observe), failures=[])
    return Prepared(shared, [item for item in inputs.jobs if shared.destination.selects(item)])


def compile_job(item: Input, shared: Shared) -> CompiledJob:
    """Compile one TrainJob: link, take apart, run the stages, patch, admit, check."""
    job = item.model
    if not isinstance(job, TrainJob):
        return _result(item, shared, list(item.diagnostics))
    runtime, problems = find_runtime(job, item, shared.inputs, shared.catalogue)
    diagnostics = [*item.diagnostics, *problems, *_unusable_environment(item, shared)]
    if runtime is None or not isinstance(runtime.model, Runtime):
        return _result(item, shared, diagnostics)
    diagnostics += filter(None, [deprecation(runtime.model, item.document)])
    plan = take_apart(item, runtime, shared, diagnostics)
    try:
        if shared.destination.hashes_names:
            # Built under its plain name, then again under the hashed one; only the second build reports problems.
            shared.pipeline.build(plan)
            plan.patch()
            plan = take_apart(item, runtime, shared, diagnostics, f"{plan.name}-{content_hash(plan.objects)}")
        shared.pipeline.run(plan, finish)
    except PluginFailure as failure:
        shared.failures.append(failure)
        plan.report("TF901", str(failure), hint="report this bug to the authors of the plugin")
    return _result(item, shared, plan.diagnostics, plan, runtime)


def take_apart(item: Input, runtime: Input, shared: Shared, diagnostics: list[Diagnostic], name: str = "") -> Plan:
    """A fresh plan that holds the `diagnostics` so far: the runtime's template with all patches and the job's resources
    merged in, and the job's copies of the runtime's companions. `name` is the JobSet's, by default the TrainJob's."""
    job, model = item.model, runtime.model
    assert isinstance(job, TrainJob)
    assert isinstance(model, Runtime)
    template = model.spec.template
    spec = dict(template.spec or {}) if template else {}
    replicated_jobs = spec.pop("replicatedJobs", None) or []
    plan = Plan(
        job=job,
        runtime=model,
        job_document=item.document,
        runtime_document=runtime.document,
        job_read=item.found,
        metadata=_metadata(name or job.metadata.name, job, model, shared.inputs.namespace),
        spec=spec,
        facts=shared.inputs.facts,
        keys=shared.inputs.keys,
        trainer=_trainer(job),
        destination=shared.destination,
        framework=_framework(model),
        ledger=Ledger(copies=[] if shared.pipeline.observe else None),
    )
    plan.record_source(("runtime", ("spec", "template")))
    plan.pod_sets = [
        PodSet.of(tree, ("spec", "template", "spec", "replicatedJobs", index), plan.ledger)
        for index, tree in enumerate(apply_runtime_patches(plan, replicated_jobs))
    ]
    merge_resources_per_node(plan)
    record_trainer_fields(plan)
    plan.gang, told = effective_gang(model, shared.destination)
    plan.objects += own_copies(runtime.companions, plan.pod_sets, plan.name, plan.namespace)
    plan.diagnostics[:] = [*diagnostics, *plan.diagnostics, *told]
    return plan


def _framework(runtime: Runtime) -> str:
    policy = runtime.spec.ml_policy
    return next((name for name in FRAMEWORKS if getattr(policy, name) is not None), "") if policy else ""


def _trainer(job: TrainJob) -> TrainerFields:
    wanted = job.spec.trainer
    return TrainerFields(wanted.image, wanted.command, wanted.args, wanted.env or []) if wanted else TrainerFields()


def _metadata(name: str, job: TrainJob, runtime: Runtime, namespace: str) -> Tree:
    """The JobSet's metadata: its name, and the labels and annotations of the runtime's template."""
    metadata: Tree = {"name": name, "namespace": job.metadata.namespace or namespace}
    template = runtime.spec.template.metadata if runtime.spec.template else None
    if template and template.labels:
        metadata["labels"] = dict(template.labels)
    if template and template.annotations:
        metadata["annotations"] = dict(template.annotations)
    return metadata


def _result(
    item: Input, shared: Shared, diagnostics: list[Diagnostic], plan: Plan | None = None, runtime: Input | None = None
) -> CompiledJob:
    _, namespace, name = item.key
    diagnostics = [*map(with_hint, diagnostics)]
    told = (*diagnostics, *runtime.diagnostics) if runtime else diagnostics
    return CompiledJob(
        name,
        namespace,
        shared.destination.name,
        item.document,
        [] if plan is None or has_errors(diagnostics) else plan.objects,
        diagnostics,
        sorted({d.code.removeprefix("TF") for d in told if d.code.startswith("TFD")}),
        plan.secrets if plan else [],
        runtime,
    )


def _unusable_environment(item: Input, shared: Shared) -> list[Diagnostic]:
    """An error on each job of an unusable Environment."""
    environment = shared.inputs.environment
    if environment is None or environment.sound:
        return []
    message = f"Environment {shared.destination.name!r} has errors, so none of its jobs can be rendered"
    return [Diagnostic("TF163", "error", message, "fix the Environment first", place=item.document)]


def _no_job(inputs: Inputs, selected: Sequence[Input]) -> list[Diagnostic]:
    """An error if there is no TrainJob, unless an unreadable document may contain one."""
    if selected or any(_may_hide_a_job(problem) for problem in inputs.diagnostics):
        return []
    if inputs.jobs and inputs.environment:
        message = f"the Environment selects none of the {len(inputs.jobs)} TrainJobs"
        place = inputs.environment.document
        return [Diagnostic("TF202", "error", message, path=("spec", "jobs", "selector"), place=place)]
    hint = "a TrainJob has apiVersion: trainer.kubeflow.org/v1alpha1 and kind: TrainJob"
    return [Diagnostic("TF202", "error", "no TrainJob found", hint)]


def _may_hide_a_job(problem: Diagnostic) -> bool:
    """Whether a problem is a parse error, or concerns the fields that make a document a job."""
    unread = problem.place is not None and not isinstance(problem.place, Document)
    return problem.severity == "error" and (unread or problem.path in (("apiVersion",), ("kind",)))

"""Take a job and its runtime apart: the plan that the stages work on."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from trainform.api import Runtime, TrainJob
from trainform.api.runtime import FRAMEWORKS
from trainform.core.beside.companions import own_copies
from trainform.core.gang import effective_gang
from trainform.core.guests.settings import NO_SETTINGS, SettingsOfPlugins
from trainform.core.plan import Plan
from trainform.core.pod_set import PodSet, TrainerFields
from trainform.core.provenance import Ledger
from trainform.core.trainer import merge_resources_per_node, record_trainer_fields
from trainform.k8s.tree import copied

if TYPE_CHECKING:
    from trainform.core.catalogue import Catalogue
    from trainform.core.destination import Destination
    from trainform.core.guests.originals import Originals
    from trainform.core.inputs import Input, Inputs
    from trainform.core.pipeline import Pipeline
    from trainform.core.plugin import PluginFailure
    from trainform.diagnostics import Diagnostic
    from trainform.k8s.tree import Tree


class Shared(NamedTuple):
    """What all jobs of one compile share. `originals` watches it if there are third-party plugins; `strict`: compare
    after each of them, to find the one that edits an input."""

    inputs: Inputs
    destination: Destination
    catalogue: Catalogue
    pipeline: Pipeline
    failures: list[PluginFailure]
    originals: Originals | None = None
    strict: bool = False
    settings: SettingsOfPlugins = NO_SETTINGS


def take_apart(item: Input, runtime: Input, shared: Shared, diagnostics: list[Diagnostic], name: str = "") -> Plan:
    """A fresh plan that holds the `diagnostics` so far: the runtime's template with all patches and the job's resources
    merged in, and the job's copies of the runtime's companions. `name` is the JobSet's, by default the TrainJob's."""
    job, model = item.model, runtime.model
    assert isinstance(job, TrainJob)
    assert isinstance(model, Runtime)
    template = model.spec.template
    given = (template.spec if template else None) or {}
    spec = {key: copied(value) for key, value in given.items() if key != "replicatedJobs"}
    replicated_jobs = given.get("replicatedJobs") or []
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
        unowned=shared.inputs.unowned,
        trainer=_trainer(job),
        plugin_settings=shared.settings.models,
        destination=shared.destination,
        framework=_framework(model),
        ledger=Ledger(copies=[] if shared.pipeline.observe else None),
    )
    if shared.originals is not None:
        watched = shared.originals.watch(item, runtime)
        plan.watched = watched if shared.strict else ()
    plan.record_source(("runtime", ("spec", "template")))
    plan.pod_sets = [
        PodSet.of(tree, ("spec", "template", "spec", "replicatedJobs", index), plan.ledger)
        for index, tree in enumerate(_patched(plan, replicated_jobs))
    ]
    merge_resources_per_node(plan)
    record_trainer_fields(plan)
    plan.gang, told = effective_gang(model, shared.destination)
    plan.objects += own_copies(runtime.companions, plan.pod_sets, plan.name, plan.namespace)
    plan.diagnostics[:] = [*diagnostics, *plan.diagnostics, *told]
    return plan


def _patched(plan: Plan, replicated_jobs: list[Tree]) -> list[Tree]:
    """The runtime's replicated jobs with the patches of the Environment and then of the job."""
    destination, own = plan.destination, plan.job.spec.runtime_patches or ()
    given = () if destination.is_default else destination.environment.spec.runtime_patches
    if not given and not own:
        return replicated_jobs
    from trainform.core.patches.runtime import apply_runtime_patches  # most jobs have none

    return apply_runtime_patches(plan, replicated_jobs, {"environment": given, "trainjob": own})


def _framework(runtime: Runtime) -> str:
    policy = runtime.spec.ml_policy
    return next((name for name in FRAMEWORKS if getattr(policy, name) is not None), "") if policy else ""


def _trainer(job: TrainJob) -> TrainerFields:
    wanted = job.spec.trainer
    if wanted is None:
        return TrainerFields()
    return TrainerFields(wanted.image, copied(wanted.command), copied(wanted.args), copied(wanted.env or []))


def _metadata(name: str, job: TrainJob, runtime: Runtime, namespace: str) -> Tree:
    """The JobSet's metadata: its name, and the labels and annotations of the runtime's template."""
    metadata: Tree = {"name": name, "namespace": job.metadata.namespace or namespace}
    template = runtime.spec.template.metadata if runtime.spec.template else None
    if template and template.labels:
        metadata["labels"] = dict(template.labels)
    if template and template.annotations:
        metadata["annotations"] = dict(template.annotations)
    return metadata

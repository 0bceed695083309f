"""Judge manifests that were rendered earlier. An engine applies them as they are, whatever today's inputs would give: a
rule about what it does with a job must hold for them too."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from trainform.api import Runtime, TrainJob, read
from trainform.api.runtime import RuntimeSpec
from trainform.core.cluster.checks import check_cluster
from trainform.core.destination import Destination
from trainform.core.guests.settings import SettingsOfPlugins, read_settings
from trainform.core.pipeline import Pipeline
from trainform.core.plan import Plan
from trainform.core.plugin import PluginFailure
from trainform.diagnostics import Diagnostic
from trainform.k8s.tree import metadata_of, object_name

if TYPE_CHECKING:
    from trainform.core.inputs import Inputs
    from trainform.core.plugin import Plugin
    from trainform.source import Document

_EMPTY_RUNTIME = Runtime.model_construct(spec=RuntimeSpec())


class Applied(NamedTuple):
    """A frozen job: its unchanged TrainJob, and the documents of its rendered objects."""

    job: Document
    objects: Sequence[Document]


def judge(frozen: Iterable[Applied], inputs: Inputs, plugins: Sequence[Plugin]) -> list[list[Diagnostic]]:
    """For each job, what is wrong with its rendered objects under today's Environment and facts, at their own lines."""
    if inputs.environment is not None and not inputs.environment.sound:
        return [[] for _ in frozen]
    destination = Destination.of(replace(inputs, diagnostics=[]))
    settings = read_settings(inputs.environment, plugins)
    able = [each for each in plugins if each.judges_frozen and each.name not in settings.unusable]
    return [_judged(each, inputs, destination, Pipeline.of(able), settings) for each in frozen]


def _judged(
    frozen: Applied, inputs: Inputs, destination: Destination, pipeline: Pipeline, settings: SettingsOfPlugins
) -> list[Diagnostic]:
    found = read(frozen.job)
    jobset = next((each.tree for each in frozen.objects if each.tree.get("kind") == "JobSet"), None)
    if jobset is None or not isinstance(found.model, TrainJob):
        return []
    plan = Plan(
        job=found.model,
        runtime=_EMPTY_RUNTIME,
        job_document=frozen.job,
        runtime_document=frozen.job,
        job_read=found,
        metadata=metadata_of(jobset),
        spec={},
        destination=destination,
        plugin_settings=settings.models,
        facts=inputs.facts,
        keys=inputs.keys,
        objects=[each.tree for each in frozen.objects],
        frozen={object_name(each.tree): each for each in frozen.objects},
    )
    try:
        pipeline.judge(plan)
    except PluginFailure as failure:
        plan.report(failure.code, str(failure), hint=failure.hint)
        return plan.diagnostics
    check_cluster(plan)
    return [each for each in plan.diagnostics if any(each.place is document for document in frozen.objects)]

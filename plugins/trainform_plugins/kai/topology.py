"""Where KAI may place the pods of a job: annotations of the JobSet, and checks of them."""

from __future__ import annotations

from typing import Any

from trainform.plugin import (
    KAI_TOPOLOGY,
    JobSetView,
    Path,
    Plan,
    Source,
    Tree,
    did_you_mean,
    listed,
    table,
    tables,
    tell_undeclared,
    text,
)

NAME = "kai.scheduler/topology"
REQUIRED = "kai.scheduler/topology-required-placement"
PREFERRED = "kai.scheduler/topology-preferred-placement"

SETTINGS: Path = ("spec", "scheduling", "gang", "topology")
FIELDS = {NAME: "name", REQUIRED: "required", PREFERRED: "preferred"}
"""Each annotation with its field in the Environment. Whoever sets one of them decides on all."""

LEVELS = (REQUIRED, PREFERRED)


def place_by_topology(plan: Plan) -> None:
    """Annotate the JobSet with the Environment's topology, in place of the template's, unless the TrainJob has its
    own."""
    choice = plan.environment.spec.scheduling.gang
    if choice is None or choice.topology is None or _of_job(plan):
        return
    annotations = plan.metadata.get("annotations") or {}
    plan.metadata["annotations"] = {key: value for key, value in annotations.items() if key not in FIELDS}
    for key, field in FIELDS.items():
        if value := getattr(choice.topology, field):
            plan.annotate_jobset(key, value, _environments_field(key))


def _of_job(plan: Plan) -> dict[str, str]:
    return {key: value for key, value in (plan.job.metadata.annotations or {}).items() if key in FIELDS}


def _environments_field(key: str) -> Source:
    return "environment", (*SETTINGS, FIELDS[key])


def topology_exists(plan: Plan, jobset: JobSetView) -> None:
    """The Topology is declared and has the levels, and the preferred one is not wider than the required one."""
    asked = {key: text(jobset.annotations, key) for key in FIELDS if text(jobset.annotations, key)}
    if not asked:
        return
    name = asked.get(NAME, "")
    if not name:
        key = next(iter(asked))
        message = f"{key} needs {NAME}: without it, KAI does not know whose level {asked[key]} is"
        _tell(plan, jobset, key, "TF372", message, hint=f"also set {NAME}")
        return
    declared = plan.facts.names(KAI_TOPOLOGY)
    topology = plan.facts.get(KAI_TOPOLOGY, name) or (None if declared else plan.facts.get("Topology", name))
    if topology is not None:
        _levels_are_its_own(plan, jobset, name, _levels(topology))
    elif declared:
        hint = did_you_mean(name, declared) or f"declared: {listed(declared)}"
        _tell(plan, jobset, NAME, "TF372", f"there is no KAI Topology {name!r}", hint=hint)
    else:
        tell_undeclared(plan, f"KAI Topology {name}", "its levels cannot be checked")


def _levels(topology: Tree) -> list[str]:
    return [text(level, "nodeLabel") for level in tables(table(topology, "spec"), "levels")]


def _levels_are_its_own(plan: Plan, jobset: JobSetView, name: str, levels: list[str]) -> None:
    places: list[int] = []
    for key in LEVELS:
        level = text(jobset.annotations, key)
        if level in levels:
            places.append(levels.index(level))
        elif level:
            hint = did_you_mean(level, levels) or f"its levels are {', '.join(levels)}"
            _tell(plan, jobset, key, "TF353", f"{level} is not a level of Topology {name}", hint=hint)
    if len(places) == len(LEVELS) and places[1] < places[0]:
        required, preferred = (jobset.annotations[key] for key in LEVELS)
        message = f"{preferred} is wider than the required {required}, so preferring it has no effect"
        _tell(
            plan, jobset, PREFERRED, "TF373", message, severity="warning", hint="prefer a narrower level, or swap them"
        )


def _tell(plan: Plan, jobset: JobSetView, key: str, code: str, message: str, **words: Any) -> None:
    """Report at the place that set an annotation."""
    value = jobset.annotations[key]
    source: Source | None = None
    choice = plan.environment.spec.scheduling.gang
    if _of_job(plan).get(key) == value:
        source = ("trainjob", ("metadata", "annotations", key))
    elif choice and choice.topology and getattr(choice.topology, FIELDS[key]) == value:
        source = _environments_field(key)
    plan.report_object(jobset.tree, ("metadata", "annotations", key), code, message, source=source, **words)

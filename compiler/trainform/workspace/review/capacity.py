"""Hold the jobs of a repository against the declared quotas of their clusters."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from trainform.source import Document
from trainform.workspace.compilation import Outcome, compile_environments
from trainform.workspace.frozen import rendered_objects, take_frozen

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainform.core.cluster.facts import Facts
    from trainform.core.compile import Compilation
    from trainform.diagnostics import Diagnostic
    from trainform.io.paths import JobId
    from trainform.k8s.tree import Tree
    from trainform.review.capacity.demand import JobDemand
    from trainform.review.capacity.verdicts import Capacity, JobVerdict
    from trainform.review.cost.pricing import Pricing
    from trainform.workspace.discovery import Workspace
    from trainform.workspace.inputs import EnvironmentInputs


class Held(NamedTuple):
    """The capacity of each environment whose cluster facts are free of errors, and the compile it comes from."""

    environments: dict[str, Capacity]
    outcome: Outcome


UNREADABLE = "its rendered JobSet is missing or not valid: run `trainform check`"


def hold(workspace: Workspace) -> Held:
    """Judge all jobs: frozen ones as they were rendered, the others as they would be. Raises InvocationError as
    `compile_environments` does."""
    from trainform.review.capacity.verdicts import capacity

    environments = workspace.read()
    frozen = [take_frozen(each, workspace.locks) for each in environments]
    outcome = compile_environments(environments, workspace.problems, wants_job=not any(frozen))
    found: dict[str, Capacity] = {}
    for each, own, compilation in zip(environments, frozen, outcome.compilations, strict=True):
        if has_sound_facts(each, compilation):
            facts = compilation.inputs.facts
            rendered = [(job.id, rendered_objects(workspace.repository, job)) for job in own]
            compiled = [((each.name, job.namespace, job.name), job.objects) for job in compilation.jobs if job.objects]
            demands = {job: _demand(job, trees, facts) for job, trees in [*rendered, *compiled]}
            known = [demand for _, demand in sorted(demands.items()) if demand]
            missing = [job for job, demand in demands.items() if demand is None]
            held = capacity(known, facts, pricing_of(each, compilation))
            found[each.name] = held.with_jobs(sorted([*held.jobs, *map(_unreadable, missing)], key=_name))
    return Held(found, outcome)


def has_sound_facts(inputs: EnvironmentInputs, compilation: Compilation) -> bool:
    """Whether the Environment and its facts are free of errors, as well as the files around them, which may hold more
    facts; otherwise no verdict is reliable. What is wrong elsewhere, say in a runtime, concerns its own jobs."""
    ours = [*compilation.inputs.fact_documents]
    if compilation.inputs.environment is not None:
        ours.append(compilation.inputs.environment.document)
    known = {id(document) for document in ours}
    folders = {inputs.folder, *(os.path.dirname(document.file) for document in ours)}
    around = tuple(f"{folder}/" for folder in folders if folder)

    def matters(error: Diagnostic) -> bool:
        return id(error.place) in known if isinstance(error.place, Document) else error.file.startswith(around)

    return not any(each.severity == "error" and matters(each) for each in compilation.diagnostics)


def pricing_of(inputs: EnvironmentInputs, compilation: Compilation) -> Pricing | None:
    """The Environment's prices; None without any. Queues are only known if the facts are sound."""
    from trainform.api import Environment
    from trainform.core.cluster.facts import NO_FACTS
    from trainform.review.cost.pricing import Pricing

    item = compilation.inputs.environment
    if item is None or not isinstance(item.model, Environment):
        return None
    return Pricing.of(item.model, compilation.inputs.facts if has_sound_facts(inputs, compilation) else NO_FACTS)


def _demand(job: JobId, trees: Iterable[Tree], facts: Facts) -> JobDemand | None:
    """The demand of a job, by the name of its TrainJob; None if it has no valid JobSet."""
    from trainform.review.capacity.demand import demand_of

    jobset = next((tree for tree in trees if tree.get("kind") == "JobSet"), None)
    return demand_of(jobset, facts, job[2]) if jobset else None


def _unreadable(job: JobId) -> JobVerdict:
    from trainform.review.capacity.verdicts import JobVerdict

    return JobVerdict(job[1], job[2], "", "unknown", UNREADABLE)


def _name(verdict: JobVerdict) -> tuple[str, str]:
    return verdict.namespace, verdict.name

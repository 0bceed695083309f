"""Hold the jobs of a repository against the declared quotas of their clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from trainform.diagnostics.order import has_errors
from trainform.source import Document
from trainform.workspace.compilation import Outcome, compile_environments
from trainform.workspace.frozen import FrozenJob, rendered_objects, take_frozen

if TYPE_CHECKING:
    from trainform.core.compile import Compilation
    from trainform.k8s.tree import Tree
    from trainform.review.capacity.demand import JobDemand
    from trainform.review.capacity.verdicts import Capacity
    from trainform.review.cost.pricing import Pricing
    from trainform.workspace.discovery import Workspace


class Held(NamedTuple):
    """The capacity of each environment whose cluster facts are free of errors, and the compile it comes from."""

    environments: dict[str, Capacity]
    outcome: Outcome


def hold(workspace: Workspace) -> Held:
    """Judge all jobs: frozen ones as they were rendered, the others as they would be. Raises InvocationError as
    `compile_environments` does."""
    from trainform.review.capacity.verdicts import capacity

    environments = workspace.read()
    frozen = [take_frozen(each, workspace.locks) for each in environments]
    outcome = compile_environments(environments, workspace.problems, wants_job=not any(frozen))
    found: dict[str, Capacity] = {}
    for own, compilation in zip(frozen, outcome.compilations, strict=True):
        if has_sound_facts(compilation):
            rendered = ((job, rendered_objects(workspace.repository, job)) for job in own)
            demands = [*_demands(compilation), *(_frozen(job, trees, compilation) for job, trees in rendered)]
            judged = [each for each in demands if each is not None]
            facts, pricing = compilation.inputs.facts, pricing_of(compilation)
            found[compilation.environment] = capacity(sorted(judged, key=_name), facts, pricing)
    return Held(found, outcome)


def has_sound_facts(compilation: Compilation) -> bool:
    """Whether the Environment and its facts are free of errors; otherwise no verdict is reliable. What is wrong
    elsewhere, say in a runtime, concerns the jobs that use it."""
    inputs = compilation.inputs
    ours = {id(document) for document in inputs.fact_documents}
    if inputs.environment is not None:
        ours.add(id(inputs.environment.document))
    return not has_errors(
        [each for each in compilation.diagnostics if not isinstance(each.place, Document) or id(each.place) in ours]
    )


def pricing_of(compilation: Compilation) -> Pricing | None:
    """The Environment's prices; None without any. Queues are only known if the facts are sound."""
    from trainform.api import Environment
    from trainform.core.cluster.facts import NO_FACTS
    from trainform.review.cost.pricing import Pricing

    inputs = compilation.inputs
    model = inputs.environment.model if inputs.environment else None
    facts = inputs.facts if has_sound_facts(compilation) else NO_FACTS
    return Pricing.of(model, facts) if isinstance(model, Environment) else None


def _demands(compilation: Compilation) -> list[JobDemand | None]:
    return [_demand(job.name, job.objects, compilation) for job in compilation.jobs]


def _frozen(job: FrozenJob, trees: list[Tree], compilation: Compilation) -> JobDemand | None:
    return _demand(job.id[2], trees, compilation)


def _demand(name: str, trees: list[Tree], compilation: Compilation) -> JobDemand | None:
    """The demand of a job, by the name of its TrainJob; None if it has no JobSet."""
    from trainform.review.capacity.demand import job_demand

    jobset = next((tree for tree in trees if tree.get("kind") == "JobSet"), None)
    return job_demand(jobset, compilation.inputs.facts, name) if jobset else None


def _name(demand: JobDemand) -> tuple[str, str]:
    return demand.namespace, demand.name

"""The report's data: every job with its pods, total requests, and comparison with the quotas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from trainform.api.runtime import FRAMEWORKS
from trainform.core.jobset_view import JobSetView
from trainform.core.resources import gpu_count
from trainform.k8s.labels import labels_of
from trainform.k8s.tree import Tree, table, tables, text
from trainform.review.capacity.amounts import devices_first, spelled
from trainform.review.capacity.demand import JobDemand, PodSetDemand, demand_of
from trainform.review.capacity.verdicts import Capacity, JobVerdict, QueueUse, capacity
from trainform.review.cost.money import Cost, Sums
from trainform.review.diff.model import Diff, JobId
from trainform.review.diff.totals import Ask, Sum, ask_for

if TYPE_CHECKING:
    from trainform.core.cluster.facts import Facts
    from trainform.review.cost.pricing import Pricing
    from trainform.review.live.model import LiveJob, LiveStatus

FRAMEWORK_LABEL = "trainer.kubeflow.org/framework"
"""Upstream's framework label of a runtime, also used by its SDK."""

PLAIN = "plain"
"""The framework name for a runtime whose mlPolicy names none, after its plugin."""


class Known(NamedTuple):
    """One job as found by the command line. `state` is `up to date`, `behind`, `to render`, `missing` or `error`.
    `jobset` is None if there is none; `notes` say why. `template` is the file that made it, if that is a template."""

    id: JobId
    runtime: str
    framework: str
    state: str
    jobset: Tree | None
    notes: tuple[str, ...] = ()
    template: str = ""


class StepRow(NamedTuple):
    """A replicated job: `pods` that run at once, and `gpus` and `requests` of each. `after` names the steps that it
    waits for."""

    name: str
    pods: int
    gpus: int
    requests: tuple[tuple[str, str], ...]
    after: tuple[tuple[str, str], ...]
    images: tuple[str, ...]


class FleetJob(NamedTuple):
    """One job of the fleet. `verdict` is Kueue's as far as quotas decide it, empty without quotas. `cost` is None
    without prices."""

    known: Known
    queue: str
    steps: tuple[StepRow, ...]
    ask: Ask
    verdict: str = ""
    reason: str = ""
    cost: Cost | None = None
    live: str = ""
    """Its state in the cluster, empty if nobody asked."""

    @property
    def environment(self) -> str:
        return self.known.id[0]

    @property
    def full_name(self) -> str:
        return "/".join(self.known.id[1:])

    @property
    def framework(self) -> str:
        return self.known.framework

    @property
    def shown_queue(self) -> str:
        return self.queue or "(none)"

    @property
    def gpus(self) -> int:
        return sum(step.pods * step.gpus for step in self.steps)


class QuotaRow(NamedTuple):
    """A ClusterQueue's quota, and what the queue's jobs request of it."""

    environment: str
    queue: str
    flavor: str
    resource: str
    use: QueueUse

    @property
    def is_gpu(self) -> bool:
        return "gpu" in self.resource.lower()

    @property
    def most(self) -> int:
        return self.use.nominal + self.use.borrowable

    @property
    def is_over(self) -> bool:
        return self.use.asked > self.most

    def told(self) -> tuple[str, ...]:
        """Requested, nominal, borrowable and maximum, in comparable units."""
        return spelled(self.resource, self.use.asked, self.use.nominal, self.use.borrowable, self.most)

    def percent(self, number: int) -> str:
        """Percent of the bar, whose length is the larger of requested and available."""
        longest = max(self.use.asked, self.most)
        return f"{100 * number / longest:.1f}%" if longest else "0%"


class Fleet(NamedTuple):
    """The jobs and quotas of one environment. No quotas if its cluster facts have errors (`is_sound`)."""

    environment: str
    jobs: tuple[FleetJob, ...]
    quotas: tuple[QuotaRow, ...]
    is_sound: bool = True


class Behind(NamedTuple):
    """`message` says why this many jobs are behind: `runtime torch-distributed changed`."""

    message: str
    jobs: int


class Report(NamedTuple):
    """Everything on the page. `diff` is relative to `base`, None without one. `is_live`: the states of jobs in their
    clusters are known."""

    fleets: tuple[Fleet, ...]
    behind: tuple[Behind, ...] = ()
    errors: tuple[str, ...] = ()
    diff: Diff | None = None
    base: str = ""
    is_live: bool = False

    @property
    def jobs(self) -> list[FleetJob]:
        return [job for fleet in self.fleets for job in fleet.jobs]


class Group(NamedTuple):
    """Jobs that share a value, their total requests, and what they cost if all run at once."""

    key: tuple[str, ...]
    sum: Sum
    gpus: int
    costs: Sums


def fleet(
    environment: str, known: Iterable[Known], facts: Facts, pricing: Pricing | None = None, *, is_sound: bool = True
) -> Fleet:
    """The jobs of one environment, sorted by name, checked against its quotas."""
    jobs = [_job(each, facts) for each in sorted(known, key=lambda each: each.id)]
    if not is_sound:
        return Fleet(environment, tuple(job for job, _ in jobs), (), is_sound=False)
    held = capacity([demand for _, demand in jobs if demand], facts, pricing)
    verdicts = iter(held.jobs)
    judged = tuple(_judged(job, next(verdicts), held) if demand else job for job, demand in jobs)
    quotas = [
        QuotaRow(environment, queue, key.flavor, key.resource, use)
        for queue, uses in held.queues.items()
        for key, use in uses.items()
    ]
    quotas.sort(key=lambda quota: (not quota.is_gpu, quota.queue, quota.flavor, quota.resource))
    return Fleet(environment, judged, tuple(quotas))


def with_live(fleets: Iterable[Fleet], statuses: Iterable[LiveStatus]) -> tuple[Fleet, ...]:
    """The fleets with what became of each job, as `trainform status` printed it."""
    known = {(status.environment, job.namespace, job.name): job for status in statuses for job in status.jobs}
    return tuple(
        each._replace(jobs=tuple(_with_state(job, known.get(job.known.id)) for job in each.jobs)) for each in fleets
    )


def _with_state(job: FleetJob, live: LiveJob | None) -> FleetJob:
    if live is None or live.state == "orphaned":
        return job
    changes = [f"drifted: {change.field}" for change in live.drift]
    notes = [f"cluster: {each}" for each in (live.reason, *changes, str(live.pod or "")) if each]
    return job._replace(live=live.told, known=job.known._replace(notes=(*job.known.notes, *notes)))


def _judged(job: FleetJob, verdict: JobVerdict, held: Capacity) -> FleetJob:
    if not held.queues:
        return job._replace(cost=verdict.cost)
    return job._replace(verdict=verdict.verdict, reason=verdict.reason, cost=verdict.cost)


def _job(known: Known, facts: Facts) -> tuple[FleetJob, JobDemand | None]:
    """A job, and its demand as Kueue sees it; None if its JobSet is invalid."""
    demand = demand_of(known.jobset, facts, known.id[2]) if known.jobset else None
    if known.jobset is None or demand is None:
        return FleetJob(known, "", (), Ask("", 0, {})), None
    ask = ask_for(demand, known.jobset)
    return FleetJob(known, ask.queue, tuple(_steps(known.jobset, demand)), ask), demand


def _steps(jobset: Tree, demand: JobDemand) -> Iterator[StepRow]:
    for step, asked in zip(JobSetView.of(jobset).jobs, demand.pod_sets, strict=True):
        after = [(text(each, "name"), text(each, "status")) for each in tables(step.tree, "dependsOn")]
        images = dict.fromkeys(text(each, "image") for each in tables(asked.pod_spec, "containers"))
        gpus = gpu_count({"requests": asked.pod_requests})
        yield StepRow(asked.name, asked.count, gpus, _written(asked), tuple(after), tuple(filter(None, images)))


def _written(asked: PodSetDemand) -> tuple[tuple[str, str], ...]:
    """What one pod requests: devices, cpu, memory, the rest."""
    names = devices_first(name for name, number in asked.pod_requests.items() if number)
    return tuple((name, spelled(name, asked.pod_requests[name])[0]) for name in names)


def framework_of(runtime: Tree) -> str:
    """A runtime's framework: from its label, else its mlPolicy."""
    labels = labels_of(runtime)
    policy = table(table(runtime, "spec"), "mlPolicy")
    return text(labels, FRAMEWORK_LABEL) or next((name for name in FRAMEWORKS if name in policy), PLAIN)


def grouped(jobs: Sequence[FleetJob], *fields: str) -> list[Group]:
    """The jobs grouped by `environment`, `shown_queue` or `framework`: most GPUs first, then by name."""
    groups: dict[tuple[str, ...], list[FleetJob]] = {}
    for job in jobs:
        groups.setdefault(tuple(getattr(job, field) for field in fields), []).append(job)
    found = []
    for key, members in groups.items():
        total = Sum()
        for job in members:
            total.add(job.ask)
        found.append(Group(key, total, sum(job.gpus for job in members), Sums.of(job.cost for job in members)))
    return sorted(found, key=lambda group: (-group.gpus, -group.sum.pods, group.key))

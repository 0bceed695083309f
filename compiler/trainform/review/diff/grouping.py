"""Groups jobs that change alike, so that a fleet upgrade is one entry instead of five hundred, and a sweep one instead
of twelve; says what each change means for running jobs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any, NamedTuple

from trainform.diagnostics import dotted
from trainform.diagnostics.order import counted
from trainform.review.capacity.amounts import devices_first, spelled
from trainform.review.cost.money import Cost
from trainform.review.diff.model import JobDiff, Reason
from trainform.review.diff.names import natural
from trainform.review.diff.totals import Ask, Sum
from trainform.review.diff.update_rules import RERUN_PATH

Group = list[JobDiff]
"""One or more jobs of one environment with the same change for the same reasons; up to the values if one template made
them."""


def groups(jobs: Iterable[JobDiff]) -> list[Group]:
    """Jobs grouped by change, in order of first appearance; jobs that are behind are omitted. Equal changes are
    grouped first, whatever files they are from: the upgrade of a fleet is not split by template."""
    alike = _joined(([job] for job in jobs if job.change != "behind"), lambda group: _sameness(group[0]))
    found = _joined(alike, _sweep)
    return [sorted(group, key=lambda job: natural(job.id)) if template_of(group) else group for group in found]


def _joined(parts: Iterable[Group], key: Callable[[Group], Hashable]) -> list[Group]:
    found: dict[Hashable, Group] = {}
    for part in parts:
        found.setdefault(key(part), []).extend(part)
    return list(found.values())


def _sameness(job: JobDiff) -> Hashable:
    """Grouping key. A new or deleted job has no reasons and is its own group."""
    if not job.reasons:
        return job.id
    told = tuple((each.path, each.label, repr(each.before), repr(each.after)) for each in job.highlights)
    return job.change, job.id[0], _fate(job), told, tuple(_likeness(job, reason) for reason in job.reasons)


def _fate(job: JobDiff) -> Hashable:
    return bool(job.new_name), job.held, job.overruled, job.pruning, bool(job.pod_group)


def template_of(group: Group) -> str:
    """The template that made all jobs of a group of several; empty if none did."""
    sources = {job.source if job.templated else "" for job in group}
    return sources.pop() if len(sources) == 1 and len(group) > 1 else ""


def _sweep(group: Group) -> Hashable:
    """Grouping key of jobs that change alike up to the values, if they are of one template; others remain as they are.
    Privileges are the same: who approves one for twelve jobs has read it."""
    job = group[0]
    if not job.templated or any(each.source != job.source for each in group):
        return id(group)
    told = tuple(
        (each.path, each.label, each.entry, each.place, *_shape(each.before, each.after, exact=each.privilege))
        for each in job.highlights
    )
    reasons = tuple(
        (shared_object(job, each), each.field, *_shape(each.before, each.after), each.immutable, each.inherited)
        for each in job.reasons
    )
    is_known = job.before is None, job.after is None
    return job.source, job.change, job.id[0], _fate(job), is_known, told, reasons


def _shape(*values: Any, exact: bool = False) -> Iterable[Hashable]:
    """Values for comparison: text, numbers and lists may differ in a sweep, what is switched on or off may not."""
    return [repr(each) if exact or each is None or isinstance(each, bool) else "" for each in values]


def represented(group: Group) -> JobDiff:
    """A job with what the jobs of a group have in common, and with all values of those of a sweep where they differ."""
    job = group[0]
    if not template_of(group):
        return job
    told = zip(*(each.highlights for each in group), strict=True)
    highlights = [
        same[0]._replace(before=merged([each.before for each in same]), after=merged([each.after for each in same]))
        for same in told
    ]
    reasons = [
        replace(same[0], before=merged([each.before for each in same]), after=merged([each.after for each in same]))
        if same[0].named
        else same[0]
        for same in zip(*(each.reasons for each in group), strict=True)
    ]
    return replace(job, highlights=tuple(highlights), reasons=tuple(reasons))


def merged(values: Sequence[Any]) -> Any:
    """The value, if all are equal; else each of them once. Lists of one length differ only in some items:
    `["train.py", "--seed=0 | --seed=1"]`."""
    different = list({repr(value): value for value in values}.values())
    if len(different) == 1:
        return different[0]
    if all(isinstance(value, list) and len(value) == len(different[0]) for value in different):
        return [merged(items) for items in zip(*different, strict=True)]
    texts = [each if isinstance(each, str) else json.dumps(each, ensure_ascii=False) for each in different]
    return " | ".join(_most_varied(texts))


def _most_varied(texts: Sequence[str]) -> Sequence[str]:
    """One of each kind first, where so many differ that the last may be cut off: a hundred seeds do not hide what is no
    seed. Texts that differ in digits alone are of one kind."""
    if len(texts) <= _MANY:
        return texts
    first: dict[str, str] = {}
    for each in texts:
        first.setdefault(_DIGITS.sub("0", each), each)
    return [*first.values(), *(each for each in texts if first[_DIGITS.sub("0", each)] is not each)]


_MANY = 10
_DIGITS = re.compile(r"[0-9]+")


def _likeness(job: JobDiff, reason: Reason) -> Hashable:
    """A reason without the job's own name and hidden values, for comparison."""
    values = (repr(reason.before), repr(reason.after))
    if not reason.named or is_new_name(job, reason):
        values = ("", "" if reason.before is None else "gone")
    return shared_object(job, reason), reason.field, *values, reason.immutable, reason.inherited


def is_new_name(job: JobDiff, reason: Reason) -> bool:
    """Whether the reason is the JobSet's new name, which the text about the job already mentions."""
    return bool(job.new_name) and reason.field == "metadata.name"


def shared_object(job: JobDiff, reason: Reason) -> str:
    """The object without the job's part of its name: `ConfigMap/…-hostfile`."""
    kind, _, name = reason.object.partition("/")
    own = job.new_name or job.id[2]
    return f"{kind}/…{name.removeprefix(own)}" if name.startswith(own) else reason.object


def reasons_of(group: Group) -> list[Reason]:
    """The reasons shared by a group's jobs, immutable fields first."""
    job = represented(group)
    shared = [each for each in job.reasons if len(group) == 1 or not is_new_name(job, each)]
    return sorted(shared, key=lambda reason: not reason.immutable)


def consequence(group: Group) -> str:
    """What the cluster will do with a group's jobs, and what the user must do; may be empty."""
    job = group[0]
    match job.change:
        case "restart":
            return _restart(group)
        case "needs-suspend":
            told = "their JobSets are" if len(group) > 1 else f"JobSet {_present_name(job)} is"
            return f"Kubernetes takes this update only while {told} suspended{_until_then(group)}"
        case "delete":
            told = "stopped and removed" + (" once you confirm it in Argo CD" if job.pruning == "confirmed" else "")
            return "; ".join(filter(None, (told, _amounts(group, "it asked", "they asked"))))
        case "orphan":
            told = f"keeps running until you delete JobSet {_present_name(job)}, as nothing prunes it"
            if len(group) > 1:
                told = "keep running until you delete their JobSets, as nothing prunes them"
            return "; ".join(filter(None, (told, _amounts(group, "it asks", "they ask"))))
        case "new":
            return _amounts(group, "asks", "they ask")
    return _suspension(group)


def _amounts(group: Group, one: str, several: str) -> str:
    """What a group's jobs ask for, after the change if they exist then; empty if that is unknown."""
    asks = [ask for job in group if (ask := job.after or job.before)]
    if not asks:
        return ""
    if len(group) == 1:
        return f"{one} for {asked(asks[0])}"
    total = Sum()
    for ask in asks:
        total.add(ask)
    queues = ", ".join(dict.fromkeys(filter(None, (ask.queue for ask in asks))))
    return f"together {several} for {asked(Ask(queues, total.pods, total.resources))}"


def _present_name(job: JobDiff) -> str:
    return job.old_name or job.id[2]


class _Words(NamedTuple):
    """The words for a group's objects in the cluster: one job's by name, those of several by kind."""

    objects: str
    own: str
    start: str
    plural: bool

    @classmethod
    def of(cls, group: Group) -> _Words:
        job, several = group[0], len(group) > 1
        whose = "their " if several else ""
        gang = (" and PodGroups" if several else f" and PodGroup {job.pod_group}") if job.pod_group else ""
        jobsets = "JobSets" if several else f"JobSet {_present_name(job)}"
        objects = f"{jobsets}{gang}"
        return cls(objects, whose + objects, "they start" if several else "it starts", several or bool(gang))

    @property
    def are_deleted(self) -> str:
        return f"{self.objects} {'are' if self.plural else 'is'} deleted"


def _restart(group: Group) -> str:
    job, words = group[0], _Words.of(group)
    if job.new_name:
        return _renaming(group)
    if job.held:
        whose = "Flux never updates a JobSet in a queue" if job.engine == "flux" else "Argo CD leaves this as it is"
        return f"{whose}: it takes effect when {words.are_deleted}; then {words.start} anew{_for_what(job)}"
    if _forcing(job):
        refused = f"Kubernetes refuses this update{_until_then(group)}"
        return f"{refused}: delete {words.own} first, then {words.start} anew{_for_what(job)}"
    several = len(group) > 1
    if _is_rerun(job):
        return f"{'are' if several else 'is'} to run again: delete the finished {words.objects}, and {words.start} anew"
    deleted = f"the {words.are_deleted}" if several else words.are_deleted
    start = "start" if words.plural else "starts"
    return f"running pods have read what this changes: it takes effect when {deleted} and {start} anew"


def _renaming(group: Group) -> str:
    """A JobSet under a new name: what becomes of the old one."""
    job = group[0]
    new, old, are = f"new object {job.new_name}", "the old one", "is"
    if len(group) > 1:
        new, old, are = "new objects", "the old ones", "are"
    match job.pruning:
        case "never":
            return f"{new}, and training starts anew; nothing prunes {old}: both run until you delete {old}"
        case "confirmed":
            return f"{new}, and training starts anew; until you confirm in Argo CD that {old} {are} pruned, both run"
        case _:
            return f"{new}; {old} {are} pruned, and training starts anew"


def _until_then(group: Group) -> str:
    """What else an engine does not apply while an update is refused. Flux asks first, for all objects at once."""
    if group[0].engine != "flux":
        return ""
    namespaces = list(dict.fromkeys(job.id[1] for job in group))
    where = f"namespace {namespaces[0]}" if len(namespaces) == 1 else "their namespaces"
    return f", and Flux applies nothing in {where} until then"


def _forcing(job: JobDiff) -> list[Reason]:
    return [reason for reason in job.reasons if reason.immutable]


def _for_what(job: JobDiff) -> str:
    return "; only what is inherited forces this" if all(reason.inherited for reason in _forcing(job)) else ""


def _is_rerun(job: JobDiff) -> bool:
    return any(reason.field == dotted(RERUN_PATH) for reason in job.reasons)


def _suspension(group: Group) -> str:
    """The effect of a changed `spec.suspend`, which stops or starts pods in place; with a queue, the queue decides."""
    if group[0].overruled:
        return "suspend has no effect, because Kueue decides when pods run"
    if any(job.after is None or job.after.queue for job in group):
        return ""
    for reason in group[0].reasons:
        if reason.field == "spec.suspend":
            return "pods stop, and start anew when it is resumed" if reason.after is True else "pods start"
    return ""


def cost(group: Group) -> str:
    """What a group costs, if it starts, stops or changes its cost: `costs 32.00 → 64.00 USD per hour, at most 768.00 →
    1,536.00 USD per run`. Empty without prices."""
    costs = [job.costs for job in group if job.costs]
    sides = [reduce(add, found) for side in zip(*costs, strict=True) if (found := list(filter(None, side)))]
    is_same = len(sides) == 2 and sides[0] == sides[1]
    if not sides or (is_same and group[0].change in ("needs-suspend", "in-place")):
        return ""
    verb = "together they cost" if len(group) > 1 else "cost" if group[0].change == "delete" else "costs"
    hourly = f"{_changed(str(each.hourly) for each in sides)} {sides[0].currency} per hour"
    return ", ".join(filter(None, (f"{verb} {hourly}", _per_run(sides))))


def _per_run(sides: Sequence[Cost]) -> str:
    bounds = [each.bound for each in sides]
    if all(bounds):
        return f"at most {_changed(bounds)} {sides[0].currency} per run"
    told = [f"at most {bound} {sides[0].currency} per run" if bound else "no limit" for bound in bounds]
    return _changed(told) if any(bounds) else ""


def _changed(sides: Iterable[str]) -> str:
    return " → ".join(dict.fromkeys(sides))


def asked(ask: Ask) -> str:
    """`8 pods, nvidia.com/gpu 64, cpu 256, memory 2Ti, queue team-a`."""
    found = {name: number for name, number in ask.resources.items() if number}
    told = [f"{name} {spelled(name, found[name])[0]}" for name in devices_first(found)]
    queue = f"queue {ask.queue}" if ask.queue else ""
    return ", ".join([counted(ask.pods, "pod"), *told, *filter(None, [queue])])

"""What a repository change means for its jobs: which objects differ, in which fields, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from trainform.diagnostics import dotted
from trainform.k8s.tree import Tree, name_of
from trainform.review.diff.compare import FieldChange, compare, renamed
from trainform.review.diff.delivery import Engine, Pruning, holds_back, leaves_to_kueue, pruning
from trainform.review.diff.highlights import Highlight, highlights
from trainform.review.diff.names import natural
from trainform.review.diff.totals import Ask, CostBalance, JobCosts, Totals
from trainform.review.diff.update_rules import (
    ORDER,
    Change,
    Rule,
    asks_for_suspension,
    class_of,
    is_suspended,
    needs_new_run,
    rule,
)

HIDDEN = "(hidden)"
"""Shown instead of a Secret's contents, encrypted or not."""

_SECRETS = ("Secret", "SealedSecret")
_CONTENTS = frozenset(["data", "stringData", "encryptedData", "sops"])

JobId = tuple[str, str, str]
"""Environment, namespace and name."""


@dataclass(frozen=True, slots=True)
class Reason:
    """One changed field of `object` (`JobSet/llm`, by its name after the change).

    `field` is a path in API terms, empty for a whole object; `named` is the same for people. For a job that fell
    behind, `object` is what changed, `before` and `after` are its digests, and `named` describes it. `immutable`: the
    API never accepts this change. `inherited`: the runtime, Environment or compiler changed, not the TrainJob.
    """

    object: str
    field: str
    named: str
    before: Any
    after: Any
    immutable: bool = False
    inherited: bool = False

    def to_json(self) -> dict[str, Any]:
        names = ("object", "field", "before", "after", "immutable", "inherited")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True)
class JobDiff:
    """The change of one job. `source` is the file of its TrainJob, `templated`: a template made it. `new_name` is set
    if its JobSet is a new object under another name (`naming: content-hash`), `old_name` if the present one has another
    name than the job. `engine` applies the job; `held`: it leaves some of what changes as it is; `overruled`: Kueue
    decides about a changed `suspend`. `pruning` is that of the present JobSet, `pod_group` the PodGroups to delete with
    it. `before` and `after` are its requests, if known. `costs` are what it costs, None without prices. `highlights`
    are what a reviewer must see."""

    id: JobId
    change: Change
    reasons: tuple[Reason, ...] = ()
    source: str = ""
    templated: bool = False
    new_name: str = ""
    old_name: str = ""
    engine: Engine = "none"
    held: bool = False
    overruled: bool = False
    pruning: Pruning = "automatic"
    pod_group: str = ""
    before: Ask | None = None
    after: Ask | None = None
    costs: JobCosts | None = None
    highlights: tuple[Highlight, ...] = ()

    @property
    def keeps_running(self) -> bool:
        """Whether the present JobSet stays in the cluster although it is no longer in git."""
        return self.pruning == "never" and (self.change == "orphan" or bool(self.new_name))

    @property
    def full_name(self) -> str:
        return "/".join(self.id[1:])

    def to_json(self) -> dict[str, Any]:
        environment, namespace, name = self.id
        return {
            "environment": environment,
            "namespace": namespace,
            "name": name,
            "source": self.source,
            "change": self.change,
            "highlights": [each.to_json() for each in self.highlights],
            "reasons": [reason.to_json() for reason in self.reasons],
            **({"cost": self.costs.to_json()} if self.costs else {}),
        }


@dataclass(slots=True)
class BehindCount:
    """How many `jobs` are behind for one reason; `new`: how many of them because of this change."""

    jobs: int = 0
    new: int = 0


@dataclass(slots=True)
class Diff:
    """All changed jobs, most severe first, the totals of all jobs, every job that is behind, counted by reason,
    `notes` of what changed besides jobs, and the `costs` of environments with prices, by name."""

    jobs: list[JobDiff] = field(default_factory=list)
    totals: Totals = field(default_factory=Totals)
    behind: dict[str, BehindCount] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    costs: dict[str, CostBalance] = field(default_factory=dict)

    def add(self, environment: str, asks: tuple[Ask | None, Ask | None], costs: JobCosts | None) -> None:
        """Add one job to the totals."""
        self.totals.add(environment, *asks)
        if costs:
            self.costs[environment].add(*(each.hourly if each else None for each in costs))

    def sort(self) -> None:
        self.jobs.sort(key=lambda job: (ORDER.index(job.change), natural(job.id)))

    def counts(self) -> dict[Change, int]:
        """Number of jobs per change that occurs, most severe first."""
        found = [job.change for job in self.jobs]
        return {change: found.count(change) for change in ORDER if change in found}

    def to_json(self) -> dict[str, Any]:
        """The `DiffResult` document."""
        from trainform.diagnostics.documents import API_VERSION

        jobs = [job.to_json() for job in self.jobs]
        return {
            "apiVersion": API_VERSION,
            "kind": "DiffResult",
            "jobs": jobs,
            "totals": self.totals.to_json(),
            "notes": self.notes,
            **({"costs": costs} if (costs := _costs_to_json(self.costs)) else {}),
        }


def _costs_to_json(costs: dict[str, CostBalance]) -> dict[str, Any]:
    return {name: costs[name].to_json() for name in sorted(costs)}


def diff_job(
    job: JobId,
    before: Sequence[Tree],
    after: Sequence[Tree],
    untouched: Sequence[Tree] | None = None,
    engine: Engine = "none",
) -> JobDiff | None:
    """The change of a job with these objects, or None if nothing differs. A job without objects before is new, without
    objects after is deleted. `untouched` are the job's current objects had its TrainJob not changed: what differs there
    too is inherited. None means that nothing else changed."""
    old, new = _Version.of(job, before), _Version.of(job, after)
    if not after:
        return _removal(old, engine) if before else None
    told = highlights(old.objects.values(), new.objects.values(), new.shown)
    if not before:
        return JobDiff(job, "new", engine=engine, highlights=told)
    found = list(_field_changes(old, new))
    if not found and old.name == new.name:
        return None
    inherited = {_identity(*each) for each in (found if untouched is after else _inherited(old, untouched))}
    reasons = [_reason(new, tree, change, _identity(tree, change) in inherited) for tree, change in found]
    known = _known(old, engine, told)
    if old.name != new.name:
        path, inherited_name = "metadata.name", bool(reasons) and all(reason.inherited for reason in reasons)
        renaming = Reason(f"JobSet/{new.name}", path, path, old.name, new.name, True, inherited_name)
        return replace(known, reasons=(renaming, *reasons), new_name=new.name)
    changed = [(old.jobset, new.jobset, change.path) for tree, change in found if tree is old.jobset and new.jobset]
    overruled = any(leaves_to_kueue(*each) for each in changed)
    held = any(holds_back(engine, *each) for each in changed if not leaves_to_kueue(*each))
    change = "restart" if held else _class(old, new, found)
    return replace(known, change=change, reasons=tuple(reasons), held=held, overruled=overruled)


def _known(old: _Version, engine: Engine, told: tuple[Highlight, ...] = ()) -> JobDiff:
    """A restart, with what is known of a job that is there already."""
    return JobDiff(
        old.job,
        "restart",
        old_name="" if old.name == old.job[2] else old.name,
        engine=engine,
        pruning=pruning(old.jobset) if old.jobset else "automatic",
        pod_group=", ".join(name_of(tree) for tree in old.objects.values() if tree["kind"] == "PodGroup"),
        highlights=told,
    )


def _removal(old: _Version, engine: Engine) -> JobDiff:
    known = _known(old, engine)
    return replace(known, change="orphan" if known.pruning == "never" else "delete")


def _class(old: _Version, new: _Version, found: Sequence[tuple[Tree, FieldChange]]) -> Change:
    """What the API makes of the changes, all in one update."""
    was = old.jobset is not None and is_suspended(old.jobset)
    asked = new.jobset is not None and asks_for_suspension(new.jobset)
    suspended = was or (new.jobset is not None and is_suspended(new.jobset))
    return class_of((_effect(tree, change) for tree, change in found), suspended=suspended, throughout=was and asked)


@dataclass(frozen=True, slots=True)
class _Version:
    """A job's objects by group, kind and name, named as if the JobSet had the job's name. `name` is the JobSet's
    own."""

    job: JobId
    name: str
    objects: dict[tuple[str, str, str], Tree]

    @classmethod
    def of(cls, job: JobId, trees: Sequence[Tree]) -> _Version:
        names = [name_of(tree) for tree in trees if tree.get("kind") == "JobSet"]
        name = names[0] if len(names) == 1 and names[0] else job[2]
        if name != job[2]:
            trees = [renamed(tree, name, job[2]) for tree in trees]
        return cls(job, name, {_key(tree): tree for tree in trees})

    def shown(self, tree: Tree) -> str:
        """Kind and actual name: `JobSet/llm-x7k2m4pq`."""
        name = name_of(tree)
        hashed = tree["kind"] not in _SECRETS and name.startswith(self.job[2])
        return f"{tree['kind']}/{self.name + name.removeprefix(self.job[2]) if hashed else name}"

    @property
    def jobset(self) -> Tree | None:
        return next((tree for tree in self.objects.values() if tree["kind"] == "JobSet"), None)


def _key(tree: Tree) -> tuple[str, str, str]:
    return str(tree.get("apiVersion", "")).rpartition("/")[0], str(tree["kind"]), name_of(tree)


def _field_changes(old: _Version, new: _Version) -> Iterator[tuple[Tree, FieldChange]]:
    """Each difference with its object; an added or removed object is one difference."""
    for key in old.objects | new.objects:
        before, after = old.objects.get(key), new.objects.get(key)
        if before and after:
            yield from ((before, change) for change in compare(before, after))
        else:
            yield before or after or {}, FieldChange((), "", before, after)


def _inherited(old: _Version, untouched: Sequence[Tree] | None) -> Iterator[tuple[Tree, FieldChange]]:
    """What differs although the TrainJob did not change."""
    return _field_changes(old, _Version.of(old.job, untouched)) if untouched else iter(())


def _identity(tree: Tree, change: FieldChange) -> tuple[Any, ...]:
    return (*_key(tree), change.named, repr(change.after))


def _reason(new: _Version, tree: Tree, change: FieldChange, inherited: bool) -> Reason:
    immutable = bool(change.path) and rule(tree, change) == Rule.NEVER
    before, after = change.before, change.after
    if tree["kind"] in _SECRETS and (not change.path or change.path[0] in _CONTENTS):
        before, after = (None if value is None else HIDDEN for value in (before, after))
    return Reason(new.shown(tree), dotted(change.path), change.named, before, after, immutable, inherited)


def _effect(tree: Tree, change: FieldChange) -> Rule:
    """The API's rule for a change; never if the API accepts a change that a running job does not pick up."""
    if not change.path:
        return Rule.NEVER if tree["kind"] == "JobSet" else Rule.ANYTIME
    return Rule.NEVER if needs_new_run(tree["kind"], change.path) else rule(tree, change)

"""What a change means for running jobs, in words."""

from __future__ import annotations

from trainform.diagnostics import dotted
from trainform.diagnostics.order import counted
from trainform.review.capacity.amounts import spelled
from trainform.review.diff.grouping import Group
from trainform.review.diff.model import JobDiff, Reason
from trainform.review.diff.totals import Ask
from trainform.review.diff.update_rules import RERUN_PATH


def consequence(group: Group) -> str:
    """What the cluster will do with the jobs of a group, and what the user must do; empty for nothing to say."""
    job = group[0]
    match job.change:
        case "restart":
            return _restarts(group) if len(group) > 1 else _restart(job)
        case "needs-suspend":
            told = "their JobSets are" if len(group) > 1 else f"JobSet {job.id[2]} is"
            return f"Kubernetes takes this update only while {told} suspended"
        case "delete":
            return "stopped and removed" + (f"; it asked for {_asked(job.before)}" if job.before else "")
        case "new":
            return f"asks for {_asked(job.after)}" if job.after else ""
    return _suspension(group)


def _restart(job: JobDiff) -> str:
    jobset = f"JobSet {job.id[2]}"
    if job.new_name:
        return f"new object {job.new_name}; the old one is pruned, and training starts anew"
    if _forcing(job):
        return f"Kubernetes refuses this update: delete {jobset} first, then it starts anew{_for_what(job)}"
    if _is_rerun(job):
        return f"is to run again: delete the finished {jobset}, and it starts anew"
    return f"running pods have read what this changes: it takes effect when {jobset} is deleted and starts anew"


def _restarts(group: Group) -> str:
    job = group[0]
    if job.new_name:
        return "new objects; the old ones are pruned, and training starts anew"
    if _forcing(job):
        return f"Kubernetes refuses this update: delete their JobSets first, then they start anew{_for_what(job)}"
    if _is_rerun(job):
        return "are to run again: delete the finished JobSets, and they start anew"
    return "running pods have read what this changes: it takes effect when the JobSets are deleted and start anew"


def _forcing(job: JobDiff) -> list[Reason]:
    return [reason for reason in job.reasons if reason.immutable]


def _for_what(job: JobDiff) -> str:
    return "; only what is inherited forces this" if all(reason.inherited for reason in _forcing(job)) else ""


def _is_rerun(job: JobDiff) -> bool:
    return any(reason.field == dotted(RERUN_PATH) for reason in job.reasons)


def _suspension(group: Group) -> str:
    """The effect of a changed `spec.suspend`, which stops or starts pods in place; with a queue, the queue decides."""
    if any(job.after is None or job.after.queue for job in group):
        return ""
    for reason in group[0].reasons:
        if reason.field == "spec.suspend":
            return "pods stop, and start anew when it is resumed" if reason.after is True else "pods start"
    return ""


def _asked(ask: Ask) -> str:
    """`8 pods, nvidia.com/gpu 64, cpu 256, memory 2Ti, queue team-a`."""
    amounts = sorted(ask.resources.items(), key=lambda item: ("/" not in item[0], item[0]))
    told = [f"{name} {spelled(name, number)[0]}" for name, number in amounts if number]
    queue = f"queue {ask.queue}" if ask.queue else ""
    return ", ".join([counted(ask.pods, "pod"), *told, *filter(None, [queue])])

"""JobSet's rules for `successPolicy` and `failurePolicy`."""

from __future__ import annotations

from trainform.diagnostics import Path
from trainform.diagnostics.suggest import did_you_mean
from trainform.k8s.names import name_rule
from trainform.k8s.rules.parts import LARGEST_ID, Found, check_name, replicas
from trainform.k8s.tree import Tree, number, table, tables, text, texts

_FAILURE_REASONS = (
    "BackoffLimitExceeded",
    "DeadlineExceeded",
    "FailedIndexes",
    "MaxFailedIndexesExceeded",
    "PodFailurePolicy",
)
_RESTART_ONE_JOB = ("RestartJob", "RestartJobAndIgnoreMaxRestarts")
_MOST_REPLICAS_TO_RESTART = 1024
_rule_name = name_rule(
    "[A-Za-z](?:[A-Za-z0-9_,:]*[A-Za-z0-9_])?",
    "must consist of letters, digits, `_`, `,` and `:`, start with a letter and not end with `,` or `:`",
    128,
)
_JOBS: Path = ("spec", "replicatedJobs")


def check(spec: Tree, jobs: list[Tree], found: Found) -> None:
    """Checks the success and failure policy of a JobSet spec with these replicated jobs."""
    names = [text(job, "name") for job in jobs]
    _check_targets(table(spec, "successPolicy"), ("spec", "successPolicy"), names, found)
    policy = table(spec, "failurePolicy")
    if policy:
        _check_failure_rules(tables(policy, "rules"), names, found)
        _check_restarts(policy, jobs, found)


def _check_targets(policy: Tree, path: Path, names: list[str], found: Found) -> None:
    for place, name in enumerate(texts(policy, "targetReplicatedJobs")):
        if name and name not in names:
            report_unknown_job((*path, "targetReplicatedJobs", place), name, names, found)


def report_unknown_job(path: Path, name: str, names: list[str], found: Found) -> None:
    """Reports a `name` at `path` that is not among the replicated jobs `names`."""
    hint = did_you_mean(name, names) or f"replicated jobs: {', '.join(names) or 'none'}"
    found.tell(path, "TF502", f'no replicated job is named "{name}"', hint)


def _check_failure_rules(rules: list[Tree], names: list[str], found: Found) -> None:
    seen: dict[str, int] = {}
    for index, rule in enumerate(rules):
        path: Path = ("spec", "failurePolicy", "rules", index)
        name = text(rule, "name") or f"failurePolicyRule{index}"
        check_name(rule, "name", _rule_name, "TF503", path, found)
        if (first := seen.setdefault(name, index)) != index:
            message = f'"{name}" is already the name of rule [{first}]'
            found.tell((*path, "name"), "TF503", message, "give each rule its own name")
        _check_targets(rule, path, names, found)
        _check_reasons(rule, path, found)


def _check_reasons(rule: Tree, path: Path, found: Found) -> None:
    for place, reason in enumerate(texts(rule, "onJobFailureReasons")):
        if reason and reason not in _FAILURE_REASONS:
            hint = did_you_mean(reason, _FAILURE_REASONS) or f"reasons: {', '.join(_FAILURE_REASONS)}"
            message = f'"{reason}" is not a Job failure reason'
            found.tell((*path, "onJobFailureReasons", place), "TF503", message, hint)


def _check_restarts(policy: Tree, jobs: list[Tree], found: Found) -> None:
    """Restarting single Jobs, or in place, needs feature gates that are off by default."""
    path: Path = ("spec", "failurePolicy")
    rules = tables(policy, "rules")
    for index, rule in enumerate(rules):
        if rule.get("action") in _RESTART_ONE_JOB:
            _report_gate("RestartJob", (*path, "rules", index, "action"), found)
            _check_replicas(jobs, found)
            break
    if policy.get("restartStrategy") == "InPlaceRestart":
        _report_gate("InPlaceRestart", (*path, "restartStrategy"), found)
        for index, job in enumerate(jobs):
            _check_in_place(table(table(job, "template"), "spec"), (*_JOBS, index, "template", "spec"), found)


def _report_gate(gate: str, path: Path, found: Found) -> None:
    message = f"JobSet rejects this unless feature gate {gate} is enabled, and it is off by default"
    found.tell(path, "TF507", message, f"check that {gate} is enabled in your cluster's JobSet")


def _check_replicas(jobs: list[Tree], found: Found) -> None:
    for index, job in enumerate(jobs):
        if replicas(job) > _MOST_REPLICAS_TO_RESTART:
            message = f"must be at most {_MOST_REPLICAS_TO_RESTART} with failure rules that restart single Jobs"
            found.tell((*_JOBS, index, "replicas"), "TF503", message)


def _check_in_place(spec: Tree, path: Path, found: Found) -> None:
    wanted = {"backoffLimit": LARGEST_ID, "podReplacementPolicy": "Failed"}
    for key, value in wanted.items():
        if spec.get(key) != value:
            message = f"must be {value} with restartStrategy InPlaceRestart"
            found.tell((*path, key), "TF503", message, f"write {key}: {value}")
    completions = number(spec, "completions")
    if completions is None or completions != number(spec, "parallelism"):
        message = "must be set and equal to parallelism with restartStrategy InPlaceRestart"
        found.tell((*path, "completions"), "TF503", message)

"""The API server's `batch/v1` rules for the Jobs that JobSet creates."""

from __future__ import annotations

import re

from trainform.diagnostics import Path
from trainform.diagnostics.suggest import did_you_mean
from trainform.k8s.names import domain_path, qualified_name
from trainform.k8s.rules import pod as pod_rules
from trainform.k8s.rules.metadata import check_metadata
from trainform.k8s.rules.parts import Found, check_at_least, check_count, check_name
from trainform.k8s.tree import Tree, metadata_of, number, sequence, table, tables, text

_COUNTS = ("activeDeadlineSeconds", "ttlSecondsAfterFinished", "backoffLimitPerIndex", "maxFailedIndexes")
_MOST_INDEXES = 100_000
_MOST_OF_MANY = 10_000
"""Maximum parallelism and failed indexes with more than `_MOST_INDEXES` completions."""

_MOST_RULES = 20
_MOST_EXIT_CODES = 255
_CONDITION_STATUSES = ("True", "False", "Unknown")
_INTERVAL = "(0|[1-9][0-9]*)(?:-([1-9][0-9]*))?"


def is_indexed(spec: Tree) -> bool:
    """Whether a Job of this spec is indexed, JobSet's default."""
    return (text(spec, "completionMode") or "Indexed") == "Indexed"


def check(template: Tree, path: Path, claims: frozenset[str], found: Found) -> None:
    """Checks the Jobs made from `template`, and their pods. `claims` are the JobSet's own volume claims, by name, which
    its controller adds to the pods' volumes."""
    spec, path_of_spec = table(template, "spec"), (*path, "spec")
    check_metadata(metadata_of(template), (*path, "metadata"), found)
    check_at_least(spec, 0, _COUNTS, "TF515", path_of_spec, found)
    _check_indexes(spec, path_of_spec, found)
    _check_fields(spec, path_of_spec, found)
    if "podFailurePolicy" in spec:
        _check_failure_policy(spec, path_of_spec, found)
    if "successPolicy" in spec:
        _check_success_policy(spec, path_of_spec, found)
    pod_rules.check(table(spec, "template"), (*path_of_spec, "template"), claims, found)


def _check_indexes(spec: Tree, path: Path, found: Found) -> None:
    if not is_indexed(spec):
        for key in ("backoffLimitPerIndex", "maxFailedIndexes", "successPolicy"):
            if spec.get(key) is not None:
                hint = "remove completionMode: NonIndexed"
                found.tell((*path, key), "TF511", "requires completionMode: Indexed", hint)
        return
    completions, parallelism = number(spec, "completions"), number(spec, "parallelism")
    if completions is None and parallelism is not None:
        hint = f"write completions: {parallelism}"
        found.tell((*path, "completions"), "TF511", "is required with parallelism if pods have an index", hint)
    if parallelism is not None and parallelism > _MOST_INDEXES:
        _report_most((*path, "parallelism"), _MOST_INDEXES, parallelism, found)
    if "maxFailedIndexes" in spec or "backoffLimitPerIndex" in spec:
        _check_failed_indexes(spec, path, found)


def _check_failed_indexes(spec: Tree, path: Path, found: Found) -> None:
    completions = number(spec, "completions") or 0
    failed, per_index = number(spec, "maxFailedIndexes"), number(spec, "backoffLimitPerIndex")
    if failed is not None and per_index is None:
        found.tell((*path, "backoffLimitPerIndex"), "TF511", "is required with maxFailedIndexes")
    most = min(completions, _MOST_INDEXES)
    if completions > _MOST_INDEXES and per_index is not None:
        most = _MOST_OF_MANY
        if failed is None:
            message = f"is required with backoffLimitPerIndex and more than {_MOST_INDEXES} completions"
            found.tell((*path, "maxFailedIndexes"), "TF511", message)
        parallelism = number(spec, "parallelism") or 0
        if _MOST_OF_MANY < parallelism <= _MOST_INDEXES:
            _report_most((*path, "parallelism"), _MOST_OF_MANY, parallelism, found)
    if failed is not None and failed > most:
        _report_most((*path, "maxFailedIndexes"), most, failed, found)


def _report_most(path: Path, most: int, value: int, found: Found) -> None:
    found.tell(path, "TF511", f"must be at most {most} here, not {value}")


def _check_fields(spec: Tree, path: Path, found: Found) -> None:
    check_name(spec, "managedBy", domain_path, "TF515", path, found)
    if spec.get("selector") is not None or spec.get("manualSelector") is True:
        key = "selector" if spec.get("selector") is not None else "manualSelector"
        message = "must not be set: each Job selects its own pods by a label that the cluster generates"
        found.tell((*path, key), "TF515", message, f"remove {key}")
    if _restart_policy(spec) == "Always":
        at = (*path, "template", "spec", "restartPolicy")
        found.tell(at, "TF515", "must not be Always: the pods of a Job run to completion", "write OnFailure or Never")


def _restart_policy(spec: Tree) -> str:
    """The pods' restart policy; JobSet defaults to `OnFailure`."""
    return text(table(table(spec, "template"), "spec"), "restartPolicy") or "OnFailure"


def _check_failure_policy(spec: Tree, path: Path, found: Found) -> None:
    policy = spec["podFailurePolicy"]
    if type(policy) is not dict:
        return
    if _restart_policy(spec) == "OnFailure":
        message = "must be Never with podFailurePolicy"
        at = (*path, "template", "spec", "restartPolicy")
        found.tell(at, "TF513", message, "write restartPolicy: Never, or remove podFailurePolicy")
    if spec.get("podReplacementPolicy") == "TerminatingOrFailed":
        message, at = "must be Failed with podFailurePolicy", (*path, "podReplacementPolicy")
        found.tell(at, "TF512", message, "remove podReplacementPolicy")
    at = (*path, "podFailurePolicy", "rules")
    check_count(len(tables(policy, "rules")), _MOST_RULES, "rules", "TF512", at, found)
    for index, rule in enumerate(tables(policy, "rules")):
        _check_failure_rule(rule, spec, (*at, index), found)


def _check_failure_rule(rule: Tree, spec: Tree, path: Path, found: Found) -> None:
    if rule.get("action") == "FailIndex" and spec.get("backoffLimitPerIndex") is None:
        found.tell((*path, "action"), "TF512", "FailIndex requires the Job's backoffLimitPerIndex", "or write FailJob")
    codes, conditions = rule.get("onExitCodes"), tables(rule, "onPodConditions")
    if (codes is None) == (not conditions):
        hint = "split it into two rules" if conditions else "set one of them to define when the rule applies"
        found.tell(path, "TF512", "must have either onExitCodes or onPodConditions", hint)
    if type(codes) is dict:
        _check_exit_codes(codes, spec, (*path, "onExitCodes"), found)
    check_count(len(conditions), _MOST_RULES, "conditions", "TF512", (*path, "onPodConditions"), found)
    for index, condition in enumerate(conditions):
        at = (*path, "onPodConditions", index)
        check_name(condition, "type", qualified_name, "TF512", at, found)
        if (text(condition, "status") or "True") not in _CONDITION_STATUSES:
            found.tell((*at, "status"), "TF512", f"must be one of {', '.join(_CONDITION_STATUSES)}", "put it in quotes")


def _check_exit_codes(codes: Tree, spec: Tree, path: Path, found: Found) -> None:
    _check_container_name(codes, table(table(spec, "template"), "spec"), path, found)
    values = [value for value in sequence(codes.get("values")) if type(value) is int]
    at = (*path, "values")
    if not values:
        found.tell(at, "TF512", "must have at least one exit code")
    check_count(len(values), _MOST_EXIT_CODES, "exit codes", "TF512", at, found)
    if values != sorted(values):
        hint = f"write {sorted(set(values))}" if len(values) <= _MOST_RULES else ""
        found.tell(at, "TF512", "must be in ascending order", hint)
    if codes.get("operator") == "In" and 0 in values:
        found.tell((*at, values.index(0)), "TF512", "must not contain 0, which means success", "remove the 0")


def _check_container_name(codes: Tree, pod: Tree, path: Path, found: Found) -> None:
    name = codes.get("containerName")
    if type(name) is not str:
        return
    names = [text(each, "name") for key in ("containers", "initContainers") for each in tables(pod, key)]
    if name not in names:
        hint = did_you_mean(name, names) or f"containers: {', '.join(names) or 'none'}"
        found.tell((*path, "containerName"), "TF512", f'the pod has no container named "{name}"', hint)


def _check_success_policy(spec: Tree, path: Path, found: Found) -> None:
    policy = spec["successPolicy"]
    if type(policy) is not dict or not is_indexed(spec):
        return
    rules, at = tables(policy, "rules"), (*path, "successPolicy", "rules")
    if not rules:
        found.tell(at, "TF514", "must have at least one rule", "or remove successPolicy")
    check_count(len(rules), _MOST_RULES, "rules", "TF514", at, found)
    for index, rule in enumerate(rules):
        _check_success_rule(rule, number(spec, "completions"), (*at, index), found)


def _check_success_rule(rule: Tree, completions: int | None, path: Path, found: Found) -> None:
    count, indexes = number(rule, "succeededCount"), rule.get("succeededIndexes")
    total = completions
    if count is None and indexes is None:
        found.tell(path, "TF514", "must have succeededCount, succeededIndexes or both")
    if type(indexes) is str:
        total = _index_count(indexes, completions)
        if total is None:
            message = f'"{indexes}" must be a list of ascending indexes below the number of completions'
            found.tell((*path, "succeededIndexes"), "TF514", message, "such as 0,3-5")
    check_at_least(rule, 0, ("succeededCount",), "TF514", path, found)
    if count is not None and total is not None and count > total:
        found.tell((*path, "succeededCount"), "TF514", f"must be at most the number of indexes ({total}), not {count}")


def _index_count(indexes: str, completions: int | None) -> int | None:
    """How many indexes `0,3-5` names; None if it names none, or one out of range."""
    count, last = 0, -1
    for interval in indexes.split(",") if indexes else ():
        bounds = re.fullmatch(_INTERVAL, interval)
        if bounds is None or len(interval) > _MOST_RULES:
            return None
        first, end = int(bounds[1]), int(bounds[2] or bounds[1])
        if first <= last or end < first or (completions is not None and end >= completions):
            return None
        count, last = count + end - first + 1, end
    return count

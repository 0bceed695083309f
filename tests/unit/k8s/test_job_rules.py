"""What the API server refuses of the Jobs that JobSet makes."""

import pytest

from trainform.diagnostics import dotted
from trainform.k8s.rules.job import check
from trainform.k8s.rules.parts import Found


def found(**spec):
    """The problems of a Job of four pods, with these fields besides."""
    pod = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox:1.37"}]}
    template = {"spec": {"completions": 4, "parallelism": 4, "template": {"spec": pod}, **spec}}
    problems = Found()
    check(template, (), frozenset(), problems)
    return [(problem.code, dotted(problem.path), problem.message) for problem in problems]


def failing(**rule):
    return {"podFailurePolicy": {"rules": [{"action": "FailJob", **rule}]}}


def exit_codes(*values, operator="In", **more):
    return {"onExitCodes": {"operator": operator, "values": list(values), **more}}


def restarting(policy):
    pod = {"restartPolicy": policy, "containers": [{"name": "main", "image": "busybox:1.37"}]}
    return {"template": {"spec": pod}}


def succeeding(**rule):
    return {"successPolicy": {"rules": [rule]}}


VALID = {
    "plain": {},
    "no counts": {"completions": None, "parallelism": None},
    "limits": {"activeDeadlineSeconds": 3600, "ttlSecondsAfterFinished": 0, "backoffLimitPerIndex": 1},
    "failed indexes": {"backoffLimitPerIndex": 1, "maxFailedIndexes": 4},
    "exit codes": failing(**exit_codes(1, 42, containerName="main")),
    "not zero": failing(**exit_codes(0, operator="NotIn")),
    "condition": failing(onPodConditions=[{"type": "DisruptionTarget"}]),
    "index": {"backoffLimitPerIndex": 0, **failing(action="FailIndex", **exit_codes(1))},
    "success of the first": succeeding(succeededIndexes="0"),
    "success of some": succeeding(succeededIndexes="0,2-3", succeededCount=2),
    "not indexed": {"completionMode": "NonIndexed", "completions": None},
    "restarted in place": restarting("OnFailure"),
    "restart policy left to JobSet": restarting(None),
}


@pytest.mark.parametrize("spec", VALID.values(), ids=VALID)
def test_a_valid_job_has_no_problem(spec):
    assert found(**spec) == []


RESTART = "spec.template.spec.restartPolicy"
RULE = "spec.podFailurePolicy.rules[0]"
SUCCESS = "spec.successPolicy.rules[0]"

REFUSED = {
    "completions": ({"completions": None}, "TF511", "spec.completions", "is required with parallelism"),
    "too parallel": ({"parallelism": 100_001}, "TF511", "spec.parallelism", "at most 100000"),
    "indexes without index": (
        {"completionMode": "NonIndexed", "backoffLimitPerIndex": 1},
        "TF511",
        "spec.backoffLimitPerIndex",
        "requires completionMode: Indexed",
    ),
    "failed indexes alone": (
        {"maxFailedIndexes": 1},
        "TF511",
        "spec.backoffLimitPerIndex",
        "is required with maxFailedIndexes",
    ),
    "more failed indexes than pods": (
        {"maxFailedIndexes": 5, "backoffLimitPerIndex": 1},
        "TF511",
        "spec.maxFailedIndexes",
        "at most 4 here, not 5",
    ),
    "very many completions": (
        {"completions": 100_001, "backoffLimitPerIndex": 1},
        "TF511",
        "spec.maxFailedIndexes",
        "is required with backoffLimitPerIndex",
    ),
    "many pods of very many completions": (
        {"completions": 100_001, "parallelism": 10_001, "backoffLimitPerIndex": 1, "maxFailedIndexes": 1},
        "TF511",
        "spec.parallelism",
        "at most 10000 here",
    ),
    "in-place restart beside a failure policy": (
        {**failing(**exit_codes(1)), **restarting("OnFailure")},
        "TF513",
        RESTART,
        "must be Never with podFailurePolicy",
    ),
    "failure policy with the default restart policy": (
        {**failing(**exit_codes(1)), **restarting(None)},
        "TF513",
        RESTART,
        "must be Never with podFailurePolicy",
    ),
    "early replacement beside a failure policy": (
        {**failing(**exit_codes(1)), "podReplacementPolicy": "TerminatingOrFailed"},
        "TF512",
        "spec.podReplacementPolicy",
        "must be Failed",
    ),
    "rule for nothing": (failing(), "TF512", RULE, "must have either onExitCodes or onPodConditions"),
    "rule for both": (
        failing(**exit_codes(1), onPodConditions=[{"type": "Ready"}]),
        "TF512",
        RULE,
        "must have either onExitCodes or onPodConditions",
    ),
    "failed index without its limit": (
        failing(action="FailIndex", **exit_codes(1)),
        "TF512",
        f"{RULE}.action",
        "FailIndex requires the Job's backoffLimitPerIndex",
    ),
    "unknown container": (
        failing(**exit_codes(1, containerName="mian")),
        "TF512",
        f"{RULE}.onExitCodes.containerName",
        'the pod has no container named "mian"',
    ),
    "no exit code": (
        failing(**exit_codes()),
        "TF512",
        f"{RULE}.onExitCodes.values",
        "at least one exit code",
    ),
    "unordered": (failing(**exit_codes(2, 1)), "TF512", f"{RULE}.onExitCodes.values", "ascending order"),
    "success as failure": (
        failing(**exit_codes(0)),
        "TF512",
        f"{RULE}.onExitCodes.values[0]",
        "must not contain 0",
    ),
    "too many exit codes": (
        failing(**exit_codes(*range(1, 257))),
        "TF512",
        f"{RULE}.onExitCodes.values",
        "at most 255 exit codes, not 256",
    ),
    "odd condition status": (
        failing(onPodConditions=[{"type": "Ready", "status": "true"}]),
        "TF512",
        f"{RULE}.onPodConditions[0].status",
        "must be one of True, False, Unknown",
    ),
    "success by nothing": (succeeding(), "TF514", SUCCESS, "must have succeededCount"),
    "no success rule": (
        {"successPolicy": {"rules": []}},
        "TF514",
        "spec.successPolicy.rules",
        "at least one rule",
    ),
    "index that no pod has": (
        succeeding(succeededIndexes="0-4"),
        "TF514",
        f"{SUCCESS}.succeededIndexes",
        "must be a list of ascending indexes",
    ),
    "indexes backwards": (
        succeeding(succeededIndexes="2,1"),
        "TF514",
        f"{SUCCESS}.succeededIndexes",
        "must be a list of ascending indexes",
    ),
    "more successes than indexes": (
        succeeding(succeededIndexes="0,1", succeededCount=3),
        "TF514",
        f"{SUCCESS}.succeededCount",
        "at most the number of indexes (2), not 3",
    ),
    "success policy without index": (
        {"completionMode": "NonIndexed", **succeeding(succeededCount=1)},
        "TF511",
        "spec.successPolicy",
        "requires completionMode: Indexed",
    ),
    "restart always": (restarting("Always"), "TF515", RESTART, "must not be Always"),
    "selector": ({"selector": {"matchLabels": {"a": "b"}}}, "TF515", "spec.selector", "must not be set"),
    "manual selector": ({"manualSelector": True}, "TF515", "spec.manualSelector", "must not be set"),
    "negative deadline": (
        {"activeDeadlineSeconds": -1},
        "TF515",
        "spec.activeDeadlineSeconds",
        "must be at least 0, not -1",
    ),
    "managed by no domain": ({"managedBy": "me"}, "TF515", "spec.managedBy", "must be a domain and a name"),
}


@pytest.mark.parametrize(("spec", "code", "path", "message"), REFUSED.values(), ids=REFUSED)
def test_what_the_api_server_refuses_is_one_problem(spec, code, path, message):
    ((found_code, found_path, found_message),) = found(**spec)
    assert (found_code, found_path) == (code, path)
    assert message in found_message

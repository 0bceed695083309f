"""What follows when pods and Jobs end: the rules of the Job controller and of JobSet."""

from __future__ import annotations

import pytest

from trainform.local.plan.policies import EndedJob, Exit, JobFailures, after_job, is_job_done


def outcomes(spec, *failures):
    """What happens after each failure, given as `index:code`."""
    job = JobFailures(spec)
    told = [job.after(int(index), [Exit("node", int(code))]) for index, code in (each.split(":") for each in failures)]
    return told, job.reason


def rules(*given):
    return {"podFailurePolicy": {"rules": [*given]}}


def on_codes(action, operator, *values, **more):
    return {"action": action, "onExitCodes": {"operator": operator, "values": [*values], **more}}


RETRY, FAIL, GIVE_UP = "retry", "fail", "give up on the index"


@pytest.mark.parametrize(
    ("spec", "failures", "told", "reason"),
    [
        ({}, ["0:1"] * 7, [RETRY] * 6 + [FAIL], "BackoffLimitExceeded"),
        ({"backoffLimit": 0}, ["0:1"], [FAIL], "BackoffLimitExceeded"),
        ({"backoffLimit": 1}, ["0:1", "1:1"], [RETRY, FAIL], "BackoffLimitExceeded"),
        ({"backoffLimitPerIndex": 1}, ["0:1", "1:1", "0:1"], [RETRY, RETRY, GIVE_UP], ""),
        (
            {"backoffLimitPerIndex": 0, "maxFailedIndexes": 1},
            ["0:1", "1:1"],
            [GIVE_UP, FAIL],
            "MaxFailedIndexesExceeded",
        ),
        (rules(on_codes("FailJob", "In", 42)), ["0:1", "0:42"], [RETRY, FAIL], "PodFailurePolicy"),
        (rules(on_codes("FailJob", "NotIn", 42)), ["0:42", "0:1"], [RETRY, FAIL], "PodFailurePolicy"),
        (rules(on_codes("FailJob", "In", 1, containerName="other")), ["0:1"], [RETRY], ""),
        ({"backoffLimit": 0, **rules(on_codes("Ignore", "In", 7))}, ["0:7", "0:7", "0:1"], [RETRY, RETRY, FAIL],
         "BackoffLimitExceeded"),
        ({"backoffLimitPerIndex": 5, **rules(on_codes("FailIndex", "In", 3))}, ["0:3"], [GIVE_UP], ""),
        (rules({"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}), ["0:1"], [RETRY], ""),
        (rules(on_codes("Count", "In", 1), on_codes("FailJob", "In", 1)), ["0:1"], [RETRY], ""),
    ],
)  # fmt: skip
def test_failures_of_pods(spec, failures, told, reason):
    assert outcomes(spec, *failures) == (told, reason)


def test_a_job_that_gave_up_on_an_index_fails_at_its_end():
    job = JobFailures({"backoffLimitPerIndex": 0})
    job.after(2, [Exit("node", 1)])
    job.all_ended()
    assert (job.reason, job.message) == ("FailedIndexes", "index 2 failed")


@pytest.mark.parametrize(
    ("policy", "succeeded", "done"),
    [
        ({}, {0, 1}, False),
        ({}, {0, 1, 2}, True),
        ({"rules": [{"succeededIndexes": "0"}]}, {0}, True),
        ({"rules": [{"succeededIndexes": "0,2"}]}, {0, 1}, False),
        ({"rules": [{"succeededIndexes": "0-1", "succeededCount": 1}]}, {1}, True),
        ({"rules": [{"succeededCount": 2}]}, {2, 0}, True),
    ],
)
def test_success_of_a_job(policy, succeeded, done):
    assert is_job_done({"successPolicy": policy}, succeeded, 3) == done


def failed(step="node", reason="BackoffLimitExceeded", message="a pod failed"):
    return EndedJob(step, "failed", reason, message)


def failure_policy(*rules, most=0):
    return {"failurePolicy": {"maxRestarts": most, "rules": [*rules]}}


@pytest.mark.parametrize(
    ("spec", "job", "restarts", "what"),
    [
        ({}, failed(), 0, "fail"),
        (failure_policy(most=2), failed(), 1, "restart"),
        (failure_policy(most=2), failed(), 2, "fail"),
        (failure_policy({"action": "FailJobSet"}, most=2), failed(), 0, "fail"),
        (failure_policy({"action": "RestartJobSetAndIgnoreMaxRestarts"}), failed(), 9, "restart uncounted"),
        (
            failure_policy({"action": "FailJobSet", "onJobFailureReasons": ["DeadlineExceeded"]}, most=1),
            failed(),
            0,
            "restart",
        ),
        (failure_policy({"action": "FailJobSet", "targetReplicatedJobs": ["data"]}, most=1), failed("data"), 0, "fail"),
        (
            failure_policy({"action": "FailJobSet", "onJobFailureMessagePatterns": ["^a p.d"]}, most=1),
            failed(),
            0,
            "fail",
        ),
        (
            failure_policy({"action": "FailJobSet", "onJobFailureMessagePatterns": ["("]}, most=1),
            failed(),
            0,
            "restart",
        ),
    ],
)
def test_failures_of_jobs(spec, job, restarts, what):
    assert after_job(spec, [job, EndedJob("other", "running")], restarts) == what


@pytest.mark.parametrize(
    ("policy", "states", "what"),
    [
        ({}, {"node": "complete", "launcher": "running"}, "go on"),
        ({}, {"node": "complete", "launcher": "complete"}, "succeed"),
        (
            {"operator": "All", "targetReplicatedJobs": ["launcher"]},
            {"node": "running", "launcher": "complete"},
            "succeed",
        ),
        ({"operator": "Any"}, {"node": "complete", "launcher": "running"}, "succeed"),
        (
            {"operator": "Any", "targetReplicatedJobs": ["launcher"]},
            {"node": "complete", "launcher": "running"},
            "go on",
        ),
    ],
)
def test_success_of_a_job_set(policy, states, what):
    jobs = [EndedJob(step, state) for step, state in states.items()]
    assert after_job({"successPolicy": policy}, jobs, 0) == what

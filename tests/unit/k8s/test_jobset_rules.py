"""What JobSet's webhook refuses, told where it was written."""

import copy

import pytest

from trainform.diagnostics import dotted
from trainform.diagnostics.codes import CODES
from trainform.k8s.rules.jobset import WARNINGS, check

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def jobset(name="llm", **spec):
    """A valid JobSet of an initializer and four trainers; keywords replace fields of its spec."""
    jobs = [replicated_job("dataset"), replicated_job("node", pods=4)]
    return {"metadata": {"name": name}, "spec": {"replicatedJobs": jobs, **spec}}


def replicated_job(name, pods=1, **fields):
    pod = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox:1.37"}]}
    spec = {"completions": pods, "parallelism": pods, "template": {"spec": pod}}
    return {"name": name, "template": {"spec": spec}, **fields}


def found(tree):
    return [(problem.code, dotted(problem.path), problem.message) for problem in check(tree)]


def only(tree):
    (problem,) = check(tree)
    return problem


VALID = {
    "the smallest": {},
    "no policy at all": {"successPolicy": None, "failurePolicy": None, "coordinator": None},
    "targets that exist": {"successPolicy": {"operator": "All", "targetReplicatedJobs": ["node"]}},
    "rules without names": {"failurePolicy": {"rules": [{"action": "FailJobSet"}, {"action": "FailJobSet"}]}},
    "a subdomain": {"network": {"subdomain": "mesh"}},
    "handed to another controller": {"managedBy": "kueue.x-k8s.io/multikueue"},
    "a coordinator": {"coordinator": {"replicatedJob": "node", "podIndex": 3}},
    "in order": {"startupPolicy": {"startupPolicyOrder": "InOrder"}},
}


@pytest.mark.parametrize("spec", VALID.values(), ids=VALID)
def test_a_valid_jobset_has_no_problem(spec):
    assert found(jobset(**spec)) == []


NAMES = {
    "My-Job": "must consist of lowercase letters",
    "llama3.2-ft": "must consist of lowercase letters",
    "7b-finetune": "start with a letter",
    "my_job": "must consist of lowercase letters",
    "": "must not be empty",
    "a" * 64: "at most 63 characters",
}


@pytest.mark.parametrize(("name", "reason"), NAMES.items())
def test_a_name_that_no_job_could_have_is_told_once_at_the_name(name, reason):
    problem = only(jobset(name))
    assert (problem.code, problem.path) == ("TF501", ("metadata", "name"))
    assert reason in problem.message


def test_the_name_has_to_leave_room_for_the_name_of_the_last_pod():
    assert found(jobset("a" * 45)) == []  # …-dataset-0-0-abcde is longer than …-node-0-3-abcde
    problem = only(jobset("a" * 46))
    assert problem.path == ("metadata", "name")
    assert "64 characters, but only 63 are allowed" in problem.message
    assert problem.hint == "use a name of at most 45 characters"


def test_the_highest_index_counts():
    tree = jobset("a" * 45)
    tree["spec"]["replicatedJobs"][0] |= {"replicas": 11}
    assert "-dataset-10-0-abcde" in only(tree).message


def test_pods_without_an_index_have_no_name_to_check():
    tree = jobset("a" * 51)
    tree["spec"]["replicatedJobs"] = [replicated_job("dataset")]
    tree["spec"]["replicatedJobs"][0]["template"]["spec"]["completionMode"] = "NonIndexed"
    assert found(tree) == []


def test_a_replicated_job_whose_own_name_is_too_long_is_told_there():
    tree = jobset(replicatedJobs=[replicated_job("n" * 60)])
    assert only(tree).path == ("spec", "replicatedJobs", 0, "name")


REFUSED = {
    "upper-case job": (
        {"replicatedJobs": [replicated_job("Node")]},
        ("TF501", "spec.replicatedJobs[0].name", '"Node" must consist of lowercase letters'),
    ),
    "group name": (
        {"replicatedJobs": [replicated_job("node", groupName="My_Group")]},
        ("TF501", "spec.replicatedJobs[0].groupName", '"My_Group" must consist'),
    ),
    "subdomain": (
        {"network": {"subdomain": "Mesh_1"}},
        ("TF501", "spec.network.subdomain", '"Mesh_1" must consist'),
    ),
    "subdomain of two parts, which no service can be called": (
        {"network": {"subdomain": "a.b"}},
        ("TF501", "spec.network.subdomain", '"a.b" must consist'),
    ),
    "managedBy without a domain": (
        {"managedBy": "multikueue"},
        ("TF501", "spec.managedBy", "must be a domain and a name separated by `/`"),
    ),
    "success of an unknown job": (
        {"successPolicy": {"operator": "All", "targetReplicatedJobs": ["node", "worker"]}},
        ("TF502", "spec.successPolicy.targetReplicatedJobs[1]", 'no replicated job is named "worker"'),
    ),
    "failure of an unknown job": (
        {"failurePolicy": {"rules": [{"action": "FailJobSet", "targetReplicatedJobs": ["nodes"]}]}},
        (
            "TF502",
            "spec.failurePolicy.rules[0].targetReplicatedJobs[0]",
            'no replicated job is named "nodes"',
        ),
    ),
    "unknown failure reason": (
        {"failurePolicy": {"rules": [{"action": "FailJobSet", "onJobFailureReasons": ["OOM"]}]}},
        ("TF503", "spec.failurePolicy.rules[0].onJobFailureReasons[0]", '"OOM" is not a Job failure reason'),
    ),
    "rule name": (
        {"failurePolicy": {"rules": [{"name": "1st", "action": "FailJobSet"}]}},
        ("TF503", "spec.failurePolicy.rules[0].name", '"1st" must consist of'),
    ),
    "long rule name": (
        {"failurePolicy": {"rules": [{"name": "r" * 129, "action": "FailJobSet"}]}},
        ("TF503", "spec.failurePolicy.rules[0].name", "at most 128 characters long, not 129"),
    ),
    "two rules of one name": (
        {"failurePolicy": {"rules": [{"name": "r"}, {"name": "r"}]}},
        ("TF503", "spec.failurePolicy.rules[1].name", '"r" is already the name of rule [0]'),
    ),
    "restart of one job": (
        {"failurePolicy": {"rules": [{"action": "RestartJob"}]}},
        ("TF507", "spec.failurePolicy.rules[0].action", "feature gate RestartJob"),
    ),
    "first job that waits": (
        {"replicatedJobs": [replicated_job("node", dependsOn=[{"name": "node", "status": "Ready"}])]},
        ("TF504", "spec.replicatedJobs[0].dependsOn", "the first replicated job cannot depend on another"),
    ),
    "waiting for a later job": (
        {
            "replicatedJobs": [
                replicated_job("a"),
                replicated_job("b", dependsOn=[{"name": "c", "status": "Ready"}]),
                replicated_job("c"),
            ]
        },
        ("TF504", "spec.replicatedJobs[1].dependsOn[0].name", 'depends on "c", but no earlier replicated job'),
    ),
    "order told twice": (
        {
            "startupPolicy": {"startupPolicyOrder": "InOrder"},
            "replicatedJobs": [
                replicated_job("a"),
                replicated_job("b", dependsOn=[{"name": "a", "status": "Ready"}]),
            ],
        },
        ("TF504", "spec.startupPolicy.startupPolicyOrder", "cannot be combined"),
    ),
    "coordinator nowhere": (
        {"coordinator": {"replicatedJob": "lead"}},
        ("TF502", "spec.coordinator.replicatedJob", 'no replicated job is named "lead"'),
    ),
    "coordinator of a job too many": (
        {"coordinator": {"replicatedJob": "node", "jobIndex": 1}},
        ("TF505", "spec.coordinator.jobIndex", "must be below the number of replicas (1), not 1"),
    ),
    "coordinator of a pod too many": (
        {"coordinator": {"replicatedJob": "node", "podIndex": 4}},
        ("TF505", "spec.coordinator.podIndex", "must be below the number of completions (4), not 4"),
    ),
    "coordinator's address too long for a label": (
        {"coordinator": {"replicatedJob": "node"}, "network": {"subdomain": "s" * 60}},
        ("TF505", "spec.coordinator", "must be at most 63 characters long"),
    ),
    "too many pods": (
        {"replicatedJobs": [replicated_job("node", pods=100_000, replicas=30_000)]},
        ("TF508", "spec.replicatedJobs[0].replicas", "gives 3000000000 pods"),
    ),
}


@pytest.mark.parametrize(("spec", "expected"), REFUSED.values(), ids=REFUSED)
def test_what_the_webhook_refuses_is_one_problem(spec, expected):
    code, path, message = expected
    problem = only(jobset(**spec))
    assert (problem.code, dotted(problem.path)) == (code, path)
    assert message in problem.message


def test_in_place_restart_wants_three_fields_and_a_feature_gate():
    tree = jobset(failurePolicy={"restartStrategy": "InPlaceRestart"}, replicatedJobs=[replicated_job("node")])
    assert [(code, path.rpartition(".")[2]) for code, path, _ in found(tree)] == [
        ("TF507", "restartStrategy"),
        ("TF503", "backoffLimit"),
        ("TF503", "podReplacementPolicy"),
    ]


def test_a_near_name_is_in_the_hint():
    tree = jobset(successPolicy={"operator": "All", "targetReplicatedJobs": ["nodes"]})
    assert only(tree).hint == 'did you mean "node"?'


def claims(*names):
    return [{"templates": [{"metadata": {"name": name}, "spec": {}} for name in names]}]


def mounting(*names, volumes=()):
    job = replicated_job("node")
    pod = job["template"]["spec"]["template"]["spec"]
    pod["volumes"] = [{"name": name, "emptyDir": {}} for name in volumes]
    pod["containers"][0]["volumeMounts"] = [{"name": name, "mountPath": f"/{name}"} for name in names]
    return [job]


def test_a_claim_is_a_volume_of_the_pods():
    tree = jobset(volumeClaimPolicies=claims("data"), replicatedJobs=mounting("data"))
    assert found(tree) == []


CLAIMS = {
    "that nobody mounts": (claims("data"), mounting(), ["metadata.name"], 'no container mounts "data"'),
    "of another's name": (claims("a", "a"), mounting("a"), ["metadata.name"], "already the name of another claim"),
    "with a name too long": (
        claims("a" * 60),
        mounting("a" * 60),
        ["metadata.name"],
        "64 characters, but only 63 are allowed",
    ),
    "with an invalid name": (claims("A"), mounting("A"), ["metadata.name"], '"A" must consist of parts'),
    "that is a volume already": (
        claims("data"),
        mounting("data", volumes=["data"]),
        ["spec.volumes[0].name"],
        '"data" is also the name of a claim',
    ),
}


@pytest.mark.parametrize(("policies", "jobs", "ends", "message"), CLAIMS.values(), ids=CLAIMS)
def test_a_claim_is_refused(policies, jobs, ends, message):
    problems = found(jobset(volumeClaimPolicies=policies, replicatedJobs=jobs))
    assert [code for code, _, _ in problems] == ["TF506"]
    assert [path.endswith(end) for (_, path, _), end in zip(problems, ends, strict=True)] == [True]
    assert message in problems[0][2]


def rich_jobset():
    """A JobSet that has something at most places where a rule looks."""
    tree = jobset(
        network={"subdomain": "mesh"},
        successPolicy={"operator": "All", "targetReplicatedJobs": ["node"]},
        failurePolicy={"rules": [{"action": "RestartJob", "name": "r", "onJobFailureReasons": ["OOM"]}]},
        coordinator={"replicatedJob": "node", "jobIndex": 0, "podIndex": 0},
        volumeClaimPolicies=claims("data"),
        replicatedJobs=mounting("data", volumes=["tmp"]),
    )
    job = tree["spec"]["replicatedJobs"][0]["template"]["spec"]
    rule = {"action": "Ignore", "onExitCodes": {"operator": "In", "values": [1]}}
    job |= {"podFailurePolicy": {"rules": [rule]}}
    job |= {"successPolicy": {"rules": [{"succeededIndexes": "0"}]}, "maxFailedIndexes": 1}
    pod = job["template"]["spec"]
    pod["tolerations"] = [{"key": "gpu", "operator": "Exists"}]
    terms = [{"matchExpressions": [{"key": "gpu", "operator": "In", "values": ["a"]}]}]
    pod["affinity"] = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": terms}}}
    pod["resources"] = {"requests": {"cpu": "1"}}
    probe = {"httpGet": {"port": 80}, "periodSeconds": 1}
    pod["containers"][0] |= {
        "env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
        "envFrom": [{"secretRef": {"name": "s"}}],
        "ports": [{"name": "http", "containerPort": 80, "hostPort": 80}],
        "readinessProbe": probe,
        "lifecycle": {"preStop": {"exec": {"command": ["true"]}}},
        "resources": {"limits": {"cpu": "1", "nvidia.com/gpu": 1}, "requests": {"cpu": "1"}},
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"add": ["SYS_PTRACE"]}},
    }
    pod["initContainers"] = [copy.deepcopy(pod["containers"][0]) | {"name": "init"}]
    return tree


def places(tree, path=()):
    """Every path in a tree."""
    yield path
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in items:
        yield from places(value, (*path, key))


def with_value(tree, path, value):
    if not path:
        return value
    tree = copy.copy(tree)
    tree[path[0]] = with_value(tree[path[0]], path[1:], value)
    return tree


@pytest.mark.parametrize("odd", [None, [], {}, "", "x", 3, -1, True, [None], ["x"], [[]], {"x": None}], ids=repr)
def test_an_odd_shape_anywhere_raises_nothing(odd):
    tree = rich_jobset()
    for path in list(places(tree))[1:]:
        for problem in check(with_value(tree, path, odd)):
            assert problem.code in CODES


def test_codes_of_warnings_are_known():
    assert CODES.keys() >= WARNINGS

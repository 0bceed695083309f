"""What queues lend each other."""

import pytest

from unit.review.cluster import (
    GPU,
    cluster_queue,
    cohort,
    fact,
    facts,
    flavor,
    group,
    held,
    job,
    local_queue,
    step,
    told,
    verdicts,
)

BASE = (flavor("h100"), local_queue())


def gpus(nominal, borrowing=None, lending=None):
    return group({"h100": {GPU: nominal}}, (borrowing, lending))


def queue(name, nominal, cohort="all", borrowing=None, lending=None):
    return cluster_queue(name, gpus(nominal, borrowing, lending), cohortName=cohort)


COHORTS = {
    "all that the other has": ([queue("main", 8), queue("other", 8)], 16),
    "up to the borrowing limit": ([queue("main", 8, borrowing=4), queue("other", 8)], 12),
    "a borrowing limit of nothing": ([queue("main", 8, borrowing=0), queue("other", 8)], 8),
    "up to the lending limit": ([queue("main", 8), queue("other", 8, lending=2)], 10),
    "its own part that it does not lend": ([queue("main", 8, lending=0), queue("other", 8)], 16),
    "the smaller of both limits": ([queue("main", 8, borrowing=4), queue("other", 8, lending=2)], 10),
    "nothing of another cohort": ([queue("main", 8), queue("other", 8, cohort="others")], 8),
    "the quota of the cohort itself": ([queue("main", 8), cohort("all", gpus(4))], 12),
    "with nothing of its own": ([queue("main", 0), queue("other", 8)], 8),
    "from a cousin": (
        [
            queue("main", 8, "a"),
            queue("other", 8, "b"),
            cohort("a", parent="root"),
            cohort("b", parent="root"),
        ],
        16,
    ),
    "from a cousin, up to what its cohort lends": (
        [
            queue("main", 8, "a"),
            queue("other", 8, "b"),
            cohort("a", parent="root"),
            cohort("b", gpus(0, lending=3), parent="root"),
        ],
        11,
    ),
    "up to what its own cohort borrows": (
        [
            queue("main", 8, "a"),
            queue("sister", 2, "a"),
            queue("other", 8, "b"),
            cohort("a", gpus(0, borrowing=5), parent="root"),
            cohort("b", parent="root"),
        ],
        15,
    ),
    "from a cohort without queues": (
        [queue("main", 8, "a"), cohort("a", parent="root"), cohort("pool", gpus(6), parent="root")],
        14,
    ),
    "from the root, three levels up": (
        [
            queue("main", 1, "a"),
            cohort("a", gpus(2), parent="b"),
            cohort("b", gpus(4), parent="c"),
            cohort("c", gpus(8)),
        ],
        15,
    ),
}


@pytest.mark.parametrize("case", COHORTS)
def test_a_queue_borrows(case):
    trees, most = COHORTS[case]
    declared = facts(*BASE, *trees)
    assert verdicts(declared, job(step(gpu=most))) == ["fits"]
    assert verdicts(declared, job(step(gpu=most + 1))) == ["never"]


def test_what_can_be_borrowed_is_in_the_reason():
    declared = facts(*BASE, queue("main", 8, borrowing=4), queue("other", 8))
    assert told(declared, job(step(gpu=13))) == (
        "never",
        "node asks nvidia.com/gpu 13; flavor h100 of ClusterQueue main has 8 nominal + 4 borrowable",
    )


def test_only_the_flavors_of_the_queue_itself_can_be_borrowed():
    other = cluster_queue("other", group({"a100": {GPU: 8}}), cohortName="all")
    declared = facts(*BASE, flavor("a100"), queue("main", 8), other)
    assert verdicts(declared, job(step(gpu=9))) == ["never"]


def test_nothing_is_admitted_below_a_circle_of_cohorts():
    declared = facts(*BASE, queue("main", 8, "a"), cohort("a", parent="b"), cohort("b", parent="a"))
    assert told(declared, job(step(gpu=1))) == (
        "never",
        "the cohorts of ClusterQueue main go round in a circle: a → b → a",
    )


TEAMS = (flavor("h100"), local_queue("one", "main"), local_queue("two", "other"))


def test_what_is_borrowed_is_gone_for_the_others():
    declared = facts(*TEAMS, queue("main", 8), queue("other", 8))
    first, second = job(step(gpu=12), name="a", queue="one"), job(step(gpu=12), name="b", queue="two")
    assert told(declared, first, second) == (
        "waits",
        "node asks nvidia.com/gpu 12; flavor h100 of ClusterQueue other has 4 left beside the jobs before it",
    )


def test_who_stays_within_the_quota_comes_before_who_borrows():
    declared = facts(*TEAMS, queue("main", 8), queue("other", 8))
    first, second = job(step(gpu=12), name="a", queue="one"), job(step(gpu=8), name="b", queue="two")
    assert verdicts(declared, first, second) == ["waits", "fits"]


def test_what_is_not_lent_stays_there():
    declared = facts(*TEAMS, queue("main", 8), queue("other", 8, lending=4))
    first, second = job(step(gpu=12), name="a", queue="one"), job(step(gpu=4), name="b", queue="two")
    assert verdicts(declared, first, second) == ["fits", "fits"]
    third = job(step(gpu=1), name="c", queue="two")
    assert verdicts(declared, first, second, third) == ["fits", "fits", "waits"]


def test_the_limit_of_borrowing_holds_for_all_jobs_together():
    declared = facts(*TEAMS, queue("main", 8, borrowing=4), queue("other", 8))
    jobs = [job(step(gpu=4), name=name, queue="one") for name in "abcd"]
    assert verdicts(declared, *jobs) == ["fits", "fits", "fits", "waits"]


def test_the_table_of_a_queue():
    declared = facts(*TEAMS, queue("main", 8, borrowing=4), queue("other", 8))
    jobs = [job(step(gpu=gpu), name=name, queue="one") for name, gpu in (("a", 8), ("b", 4), ("c", 20))]
    found = held(declared, *jobs)
    assert found.to_json()["queues"] == {
        "main": {"h100/nvidia.com/gpu": {"nominal": "8", "borrowable": "4", "asked": "32"}},
        "other": {"h100/nvidia.com/gpu": {"nominal": "8", "borrowable": "8", "asked": "0"}},
    }
    assert found.to_json()["jobs"][1] == {
        "namespace": "ml", "name": "b", "queue": "one", "verdict": "fits", "reason": "",
        "pods": 1, "resources": {"nvidia.com/gpu": "4"},
    }  # fmt: skip


def priority(kind, name, value, **more):
    version = "scheduling.k8s.io/v1" if kind == "PriorityClass" else "kueue.x-k8s.io/v1beta2"
    return {**fact(kind, name, version=version), "value": value, **more}


CLASSES = (
    priority("WorkloadPriorityClass", "urgent", 100),
    priority("PriorityClass", "high", 50),
    priority("PriorityClass", "usual", 10, globalDefault=True),
)
ALONE = facts(*BASE, queue("main", 8), *CLASSES)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        pytest.param({}, {}, ["fits", "waits"], id="by name"),
        pytest.param({}, {"priority_class": "urgent"}, ["waits", "fits"], id="by class of workloads"),
        pytest.param({}, {"pod": "high"}, ["waits", "fits"], id="by class of pods"),
        pytest.param({"pod": "high"}, {"priority_class": "urgent"}, ["waits", "fits"], id="workloads first"),
        pytest.param({"pod": "absent"}, {}, ["waits", "fits"], id="the default is above an unknown class"),
        pytest.param({"pod": "high"}, {"pod": "system-node-critical"}, ["waits", "fits"], id="of the system"),
    ],
)
def test_all_at_once_by_priority(first, second, expected):
    jobs = []
    for name, given in (("a", dict(first)), ("b", dict(second))):
        pod = {"priorityClassName": given.pop("pod")} if "pod" in given else {}
        jobs.append(job(step(gpu=5, pod=pod), name=name, **given))
    assert verdicts(ALONE, *jobs) == expected


def test_a_small_job_overtakes_one_that_waits():
    jobs = [job(step(gpu=gpu), name=name) for name, gpu in (("a", 5), ("b", 5), ("c", 3))]
    assert verdicts(ALONE, *jobs) == ["fits", "waits", "fits"]


def test_nothing_overtakes_in_a_strict_queue():
    strict = cluster_queue("main", gpus(8), queueingStrategy="StrictFIFO")
    jobs = [job(step(gpu=gpu), name=name) for name, gpu in (("a", 5), ("b", 5), ("c", 3))]
    declared = facts(*BASE, strict)
    assert verdicts(declared, *jobs) == ["fits", "waits", "waits"]
    assert told(declared, *jobs)[1] == "stands behind ml/b: ClusterQueue main is StrictFIFO"


def test_a_job_that_never_starts_blocks_a_strict_queue_for_ever():
    strict = cluster_queue("main", gpus(8), queueingStrategy="StrictFIFO")
    jobs = [job(step(gpu=gpu), name=name) for name, gpu in (("a", 9), ("b", 1))]
    assert verdicts(facts(*BASE, strict), *jobs) == ["never", "waits"]


def test_the_second_flavor_takes_what_the_first_has_no_room_for():
    declared = facts(
        flavor("a"), flavor("b"), local_queue(), cluster_queue("main", group({"a": {GPU: 8}, "b": {GPU: 4}}))
    )
    jobs = [job(step(gpu=gpu), name=name) for name, gpu in (("x", 8), ("y", 4), ("z", 1))]
    assert verdicts(declared, *jobs) == ["fits", "fits", "waits"]

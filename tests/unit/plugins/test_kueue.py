"""Kueue: labels and topology of an Environment, and what the declared facts say of them."""

from __future__ import annotations

from typing import Any

import pytest

from support.scheduling import codes, compiled, fact, objects, pods_of, step, the

PREFIX = "kueue.x-k8s.io/"
QUEUE, PRIORITY, TIME = (f"{PREFIX}{name}" for name in ("queue-name", "priority-class", "max-exec-time-seconds"))
BLOCK, RACK, HOST = "example.com/block", "example.com/rack", "kubernetes.io/hostname"

TOPOLOGY = fact("Topology", "default", {"levels": [{"nodeLabel": level} for level in (BLOCK, RACK, HOST)]})
FLAVOR = fact("ResourceFlavor", "gpu", {"nodeLabels": {"gpu": "h100"}, "topologyName": "default"})
HIGH = {key: part for key, part in fact("WorkloadPriorityClass", "high").items() if key != "spec"} | {"value": 1}
LOCAL_QUEUE = fact("LocalQueue", "team-a", {"clusterQueue": "all"}, namespace="team-a")


def cluster_queue(flavor: str = "gpu", **spec: Any) -> dict[str, Any]:
    """It counts pods, so that they need no other request to get a flavor."""
    quota = {"name": "pods", "nominalQuota": 9}
    groups = [{"coveredResources": ["pods"], "flavors": [{"name": flavor, "resources": [quota]}]}]
    return fact("ClusterQueue", "all", {"namespaceSelector": {}, "resourceGroups": groups, **spec})


FACTS = (TOPOLOGY, FLAVOR, LOCAL_QUEUE, cluster_queue())


def kueue(*facts: dict[str, Any], settings: dict[str, Any] | None = None, **words: Any) -> dict[str, Any]:
    """The job in LocalQueue `team-a`, with further settings of Kueue."""
    return compiled(*(facts or FACTS), scheduling={"kueue": {"localQueue": "team-a", **(settings or {})}}, **words)


def labels(result: dict[str, Any]) -> dict[str, str]:
    found: dict[str, str] = objects(result)["JobSet"]["metadata"].get("labels", {})
    return found


def asked(result: dict[str, Any], name: str = "node") -> dict[str, str]:
    """The annotations of a step, without Kueue's prefix."""
    annotations = pods_of(result)[name]["metadata"].get("annotations", {})
    return {key.removeprefix(f"{PREFIX}podset-"): value for key, value in annotations.items()}


def test_without_an_environment_nothing_is_labelled_or_checked():
    result = compiled(labels={QUEUE: "team-a"})
    assert labels(result) == {QUEUE: "team-a"}
    assert codes(result) == []


def test_the_environment_labels_the_jobset():
    result = kueue(*FACTS, HIGH, settings={"maxExecTimeSeconds": 60, "priorityClass": "high"})
    assert labels(result) == {QUEUE: "team-a", TIME: "60", PRIORITY: "high"}
    assert codes(result, "error", "warning", "info") == []


@pytest.mark.parametrize(
    ("of_job", "of_template", "rendered"),
    [({}, {}, "team-a"), ({}, {QUEUE: "old"}, "team-a"), ({QUEUE: "other"}, {QUEUE: "old"}, "other")],
)
def test_the_job_beats_the_environment_which_beats_the_template(of_job, of_template, rendered):
    other = fact("LocalQueue", "other", {"clusterQueue": "all"}, namespace="team-a")
    result = kueue(*FACTS, other, labels=of_job, template=of_template)
    assert labels(result)[QUEUE] == rendered


@pytest.mark.parametrize(
    ("topology", "annotations"),
    [
        ({"required": RACK}, {"required-topology": RACK}),
        ({"preferred": BLOCK}, {"preferred-topology": BLOCK}),
        ({"unconstrained": True}, {"unconstrained-topology": "true"}),
        ({"unconstrained": False}, {}),
        ({"slice": {"required": HOST, "size": 2}}, {"slice-required-topology": HOST, "slice-size": "2"}),
        (
            {"required": RACK, "slice": {"required": HOST, "size": 2}},
            {"required-topology": RACK, "slice-required-topology": HOST, "slice-size": "2"},
        ),
    ],
)
def test_topology_becomes_annotations(topology, annotations):
    assert asked(kueue(settings={"topology": topology})) == annotations


def test_the_environment_replaces_all_that_the_template_asks():
    template = {f"{PREFIX}podset-required-topology": BLOCK, "note": "mine"}
    result = kueue(settings={"topology": {"preferred": RACK}}, annotations=template)
    assert asked(result) == {"note": "mine", "preferred-topology": RACK}


def test_annotations_that_the_webhook_refuses_are_told_where_they_were_written():
    key = f"{PREFIX}podset-unconstrained-topology"
    error = the(kueue(annotations={key: "yes"}), "TF359")
    assert error["field"] == f"spec.template.spec.replicatedJobs[0].template.spec.template.metadata.annotations.{key}"
    assert error["message"] == 'must be "true" or "false", not "yes"'


def test_an_environment_without_topology_leaves_the_templates():
    assert asked(kueue(annotations={f"{PREFIX}podset-required-topology": BLOCK})) == {"required-topology": BLOCK}


def test_a_step_may_have_none_of_the_general_topology():
    settings = {"topology": {"required": RACK}, "steps": {"reader": {"topology": {}}}}
    result = kueue(settings=settings, steps=(step("reader"),))
    assert (asked(result), asked(result, "reader")) == ({"required-topology": RACK}, {})


@pytest.mark.parametrize(
    ("facts", "code", "word"),
    [
        ((fact("LocalQueue", "team-b", {"clusterQueue": "all"}, namespace="team-a"),), "TF350", "team-b"),
        ((fact("LocalQueue", "team-a", {"clusterQueue": "all"}, namespace="other"),), "TF350", "other"),
        ((LOCAL_QUEUE, FLAVOR, TOPOLOGY, cluster_queue(namespaceSelector=None)), "TF351", "all namespaces"),
        (
            (LOCAL_QUEUE, FLAVOR, TOPOLOGY, cluster_queue(namespaceSelector={
                "matchLabels": {"kubernetes.io/metadata.name": "team-b"}})),
            "TF351",
            "namespaceSelector",
        ),
    ],
)  # fmt: skip
def test_the_queue_takes_jobs_of_the_namespace(facts, code, word):
    error = the(kueue(*facts), code)
    assert error["severity"] == "error"
    assert (error["field"], error["object"]) == ("spec.scheduling.kueue.localQueue", "JobSet/llm")
    assert word in error["hint"]


def test_labels_of_a_declared_namespace_decide():
    selects = cluster_queue(namespaceSelector={"matchLabels": {"tier": "prod"}})
    facts = (LOCAL_QUEUE, FLAVOR, TOPOLOGY, selects)
    namespace = fact("Namespace", "team-a", version="v1", labels={"tier": "prod"})
    assert codes(kueue(*facts, namespace)) == []
    assert the(kueue(*facts), "TF563")["message"].endswith("cannot tell whether ClusterQueue all admits it")


def test_a_missing_fact_is_a_warning_in_an_environment():
    result = kueue(fact("Namespace", "team-a", version="v1"), settings={"priorityClass": "high"})
    assert codes(result, "warning") == ["TF563", "TF563"]
    assert objects(result)


def test_a_priority_class_is_among_the_declared():
    facts = (*FACTS, HIGH)
    assert codes(kueue(*facts, settings={"priorityClass": "high"})) == []
    assert the(kueue(*facts, settings={"priorityClass": "hihg"}), "TF352")["hint"] == 'did you mean "high"?'


@pytest.mark.parametrize(
    ("nodes", "size", "severity"), [(4, 4, None), (4, 2, None), (4, 3, "warning"), (4, 5, "error"), (1, 2, "error")]
)
def test_slices_fit_the_pods(nodes, size, severity):
    result = kueue(settings={"topology": {"slice": {"required": RACK, "size": size}}}, nodes=nodes)
    assert [d["severity"] for d in result["jobs"][0]["diagnostics"] if d["code"] == "TF354"] == (
        [severity] if severity else []
    )


def test_replicas_count_for_slices():
    settings = {"topology": {}, "steps": {"reader": {"topology": {"slice": {"required": RACK, "size": 6}}}}}
    assert codes(kueue(settings=settings, steps=(step("reader", replicas=6),))) == []
    assert codes(kueue(settings=settings, steps=(step("reader", replicas=5),))) == ["TF354"]


@pytest.mark.parametrize(
    ("topology", "code"),
    [
        ({"required": "example.com/rak"}, "TF353"),
        ({"preferred": "example.com/rak"}, "TF353"),
        ({"slice": {"required": "example.com/rak", "size": 2}}, "TF353"),
        ({"required": RACK, "slice": {"required": BLOCK, "size": 2}}, "TF354"),
        ({"required": RACK, "slice": {"required": RACK, "size": 2}}, None),
    ],
)
def test_levels_are_those_of_the_queues_flavors(topology, code):
    assert codes(kueue(settings={"topology": topology})) == ([code] if code else [])


def test_a_topology_of_another_flavor_does_not_help():
    other = fact("Topology", "other", {"levels": [{"nodeLabel": "cloud/zone-of-rows"}]})
    error = the(kueue(*FACTS, other, settings={"topology": {"required": "cloud/zone-of-rows"}}), "TF353")
    assert error["hint"] == f"its levels are {BLOCK}, {RACK}, {HOST}"


@pytest.mark.parametrize(
    ("count", "levels", "code"),
    [(1, (RACK, RACK), None), (2, (RACK, RACK), "TF354"), (1, (RACK, BLOCK), "TF354")],
)
def test_a_group_is_a_single_pod_and_the_rest_at_one_level(count, levels, code):
    node, launcher = ({"topology": {"required": level, "group": "g"}} for level in levels)
    settings = {"steps": {"node": node, "launcher": launcher}}
    result = kueue(settings=settings, steps=(step("launcher", replicas=count),))
    assert codes(result) == ([code] if code else [])


@pytest.mark.parametrize(("step_name", "severity"), [("nod", "error"), ("data-initializer", "info")])
def test_a_step_that_no_job_has(step_name, severity):
    result = kueue(settings={"steps": {step_name: {"topology": {}}}})
    assert the(result, "TF355")["severity"] == severity


@pytest.mark.parametrize(
    ("version", "topology", "severity"),
    [
        ("0.8", {"required": RACK}, "error"),
        ("0.10", {"unconstrained": True}, "error"),
        ("0.12", {"slice": {"required": RACK, "size": 2}}, "error"),
        ("0.12", {"required": RACK, "group": "g"}, "error"),
        ("v0.13.2", {"slice": {"required": RACK, "size": 2}}, "warning"),
        ("0.14", {"slice": {"required": RACK, "size": 2}}, None),
        (None, {"slice": {"required": RACK, "size": 2}}, None),
    ],
)
def test_a_feature_needs_its_kueue(version, topology, severity):
    result = kueue(settings={"topology": topology}, cluster={"kueue": version} if version else {})
    told = {d["severity"] for d in result["jobs"][0]["diagnostics"] if d["code"] == "TF356"}
    assert severity in told if severity else not told


@pytest.mark.parametrize(
    ("managed_by", "rendered"),
    [
        (None, "kueue.x-k8s.io/multikueue"),
        ("kueue.x-k8s.io/multikueue", "kueue.x-k8s.io/multikueue"),
        ("trainer.kubeflow.org/trainjob-controller", None),
    ],
)
def test_multikueue_takes_the_jobs_that_do_not_refuse(managed_by, rendered):
    job = {"managedBy": managed_by} if managed_by else {}
    result = kueue(settings={"multiKueue": True}, job=job)
    assert objects(result)["JobSet"]["spec"].get("managedBy") == rendered


@pytest.mark.parametrize("settings", [{"multiKueue": True}, {}])
def test_multikueue_hands_on_no_pod_group(settings):
    job = {} if settings else {"managedBy": "kueue.x-k8s.io/multikueue"}
    result = kueue(settings=settings, job=job, runtime={"podGroupPolicy": {"coscheduling": {}}})
    error = the(result, "TF357")
    assert "PodGroup/llm" in error["message"]
    assert error["field"] == ("spec.scheduling.kueue.multiKueue" if settings else "spec.managedBy")


MPI = {"mlPolicy": {"numNodes": 1, "mpi": {"mpiImplementation": "OpenMPI"}}}
GANG: dict[str, Any] = {"podGroupPolicy": {"coscheduling": {}}}
WITHOUT_GANG = "use a runtime without podGroupPolicy: Kueue admits all pods at once"


@pytest.mark.parametrize("settings", [{"multiKueue": True}, {}], ids=["environment", "job"])
@pytest.mark.parametrize(
    ("runtime", "behind", "hint"),
    [
        (MPI, "ConfigMap/llm-mpi-hostfile, Secret/llm-mpi-ssh-auth",
         "create them in the worker clusters, or use a runtime that needs none"),
        (GANG, "PodGroup/llm", WITHOUT_GANG),
        ({**MPI, **GANG}, "ConfigMap/llm-mpi-hostfile, PodGroup/llm, Secret/llm-mpi-ssh-auth",
         f"{WITHOUT_GANG}; create the others in the worker clusters, or use a runtime that needs none"),
    ],
    ids=["mpi", "gang", "both"],
)  # fmt: skip
def test_what_multikueue_leaves_behind_is_named_with_its_remedy(settings, runtime, behind, hint):
    job = {} if settings else {"managedBy": "kueue.x-k8s.io/multikueue"}
    error = the(kueue(settings=settings, job=job, runtime=runtime, nodes=1), "TF357")
    assert error["message"] == f"MultiKueue copies only the JobSet, but its pods also need {behind}"
    assert (error["hint"], error["objectField"]) == (hint, "spec.managedBy")
    assert [each["environment"] for each in error["jobs"]] == (["prod"] if settings else [])


def test_the_gang_of_the_environment_is_what_to_change_under_multikueue():
    result = compiled(
        TOPOLOGY, scheduling={"kueue": {"localQueue": "team-a", "multiKueue": True}, "gang": {"scheduler": "volcano"}}
    )
    error = the(result, "TF357")
    assert "PodGroup/llm" in error["message"]
    assert error["hint"] == "write scheduling.gang.scheduler: none in the Environment: Kueue admits all pods at once"


def test_a_gang_without_a_pod_group_is_not_what_to_change_under_multikueue():
    """YuniKorn reads a gang from annotations of the pods."""
    settings = {"kueue": {"localQueue": "team-a", "multiKueue": True}, "gang": {"scheduler": "yunikorn"}}
    error = the(compiled(*FACTS, scheduling=settings, runtime=MPI, nodes=1), "TF357")
    assert error["hint"] == "create them in the worker clusters, or use a runtime that needs none"


@pytest.mark.parametrize("time", ["0", "1d", "1.5", ""])
def test_a_time_limit_is_a_number(time):
    assert codes(kueue(labels={TIME: time}), "error") == ["TF359"]


def test_a_label_that_is_too_new_is_told_where_it_was_written():
    error = the(kueue(template={TIME: "60"}, cluster={"kueue": "0.8"}), "TF356")
    assert error["field"] == f"spec.template.metadata.labels.{TIME}"


@pytest.mark.parametrize("environment", [None, {}], ids=["no environment", "environment without kueue"])
def test_a_label_is_told_where_it_was_written(environment):
    """In the TrainJob, whose own jobs need no mention, else in the runtime."""
    error = the(compiled(labels={TIME: "0"}, environment=environment), "TF359")
    assert (error["field"], error["jobs"]) == (f"metadata.labels.{TIME}", [])
    error = the(compiled(template={TIME: "0"}, environment=environment), "TF359")
    assert error["field"] == f"spec.template.metadata.labels.{TIME}"
    assert [each["name"] for each in error["jobs"]] == ["llm"]


@pytest.mark.parametrize(
    ("settings", "cluster", "code", "field"),
    [
        ({"priorityClass": "high"}, {}, "TF563", "priorityClass"),
        ({"maxExecTimeSeconds": 60}, {"kueue": "0.8"}, "TF356", "maxExecTimeSeconds"),
    ],
)
def test_a_label_of_the_environment_is_told_there(settings, cluster, code, field):
    found = the(kueue(settings=settings, cluster=cluster), code)
    assert found["field"] == f"spec.scheduling.kueue.{field}"
    assert [each["environment"] for each in found["jobs"]] == ["prod"]


def test_a_label_that_the_job_and_the_environment_set_alike_is_told_in_the_job():
    error = the(kueue(LOCAL_QUEUE, labels={QUEUE: "nobody"}, settings={"localQueue": "nobody"}), "TF350")
    assert (error["field"], error["jobs"]) == (f"metadata.labels.{QUEUE}", [])


def test_settings_without_a_queue_have_no_effect():
    result = compiled(TOPOLOGY, scheduling={"kueue": {"topology": {"required": RACK}}})
    assert codes(result) == ["TF358"]

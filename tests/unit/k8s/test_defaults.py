"""Objects as the API server would store them."""

from __future__ import annotations

import json

import pytest

from trainform.k8s.defaults import admit, default_jobset


def jobset(pod=None, **spec):
    pod = {"containers": [], "restartPolicy": "Never"} | (pod or {})
    template = {"spec": {"completionMode": "NonIndexed", "template": {"spec": pod}}}
    node = {"name": "node", "groupName": "g", "replicas": 2, "template": template}
    policies = {
        "network": {"enableDNSHostnames": False, "publishNotReadyAddresses": False},
        "startupPolicy": {"startupPolicyOrder": "InOrder"},
        "successPolicy": {"operator": "Any"},
    }
    return {"kind": "JobSet", "spec": {"replicatedJobs": [node], **policies, **spec}}


def stored_pod(pod):
    (node,) = default_jobset(jobset(pod))["spec"]["replicatedJobs"]
    return node["template"]["spec"]["template"]["spec"]


def stored_container(**fields):
    (container,) = stored_pod({"containers": [{"name": "node", **fields}]})["containers"]
    return {name: value for name, value in container.items() if name != "name"}


def stored_volume(**source):
    (volume,) = stored_pod({"volumes": [{"name": "v", **source}]})["volumes"]
    return {name: value for name, value in volume.items() if name != "name"}


def test_the_webhook_fills_in_the_policies_of_a_jobset():
    bare = {"spec": {"replicatedJobs": [{"name": "node", "template": {"spec": {"template": {"spec": {}}}}}]}}
    assert default_jobset(bare)["spec"] == {
        "replicatedJobs": [
            {
                "name": "node",
                "template": {
                    "spec": {
                        "template": {"spec": {"restartPolicy": "OnFailure"}},
                        "completionMode": "Indexed",
                    }
                },
                "groupName": "default",
                "replicas": 1,
            }
        ],
        "successPolicy": {"operator": "All"},
        "startupPolicy": {"startupPolicyOrder": "AnyOrder"},
        "network": {"enableDNSHostnames": True, "publishNotReadyAddresses": True},
    }


def test_a_jobset_that_says_everything_is_returned_as_it_is():
    complete = jobset()
    assert default_jobset(complete) is complete


def test_defaulting_twice_changes_nothing_more():
    once = default_jobset({"spec": {"replicatedJobs": [{"name": "node", "template": {}}]}})
    assert default_jobset(once) is once


def test_the_input_is_not_changed_and_untouched_parts_are_shared():
    given = jobset({"containers": [{"name": "node", "env": [{"name": "A", "value": ""}]}], "volumes": [{"name": "v"}]})
    before = json.dumps(given)
    result = default_jobset(given)
    pods = [tree["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"] for tree in (given, result)]
    assert json.dumps(given) == before
    assert pods[0]["volumes"] is pods[1]["volumes"]


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ({"network": {}}, {"network": {"enableDNSHostnames": True, "publishNotReadyAddresses": True}}),
        (
            {"network": {"enableDNSHostnames": False, "subdomain": ""}},
            {"network": {"enableDNSHostnames": False, "publishNotReadyAddresses": True}},
        ),
        ({"failurePolicy": {"maxRestarts": 0}}, {"failurePolicy": {"restartStrategy": "Recreate"}}),
        (
            {
                "failurePolicy": {
                    "restartStrategy": "InPlaceRestart",
                    "rules": [{"name": "a"}, {"action": "x"}],
                }
            },
            {
                "failurePolicy": {
                    "restartStrategy": "InPlaceRestart",
                    "rules": [{"name": "a"}, {"action": "x", "name": "failurePolicyRule1"}],
                }
            },
        ),
        (
            {"volumeClaimPolicies": [{}, {"retentionPolicy": {"whenDeleted": "Retain"}}]},
            {
                "volumeClaimPolicies": [
                    {"retentionPolicy": {"whenDeleted": "Delete"}},
                    {"retentionPolicy": {"whenDeleted": "Retain"}},
                ]
            },
        ),
        ({"coordinator": {"replicatedJob": "n", "jobIndex": 0}}, {"coordinator": {"replicatedJob": "n"}}),
        ({"suspend": False, "ttlSecondsAfterFinished": 0}, {"suspend": False, "ttlSecondsAfterFinished": 0}),
    ],
)
def test_parts_of_a_jobset(given, stored):
    spec = default_jobset(jobset(**given))["spec"]
    assert {name: spec[name] for name in given} == stored


@pytest.mark.parametrize("policy", ["no mapping", {"rules": "no list"}, {"rules": ["no rule", {"name": "a"}]}])
def test_a_failure_policy_of_a_wrong_shape_gets_no_names(policy):
    assert admit({"kind": "JobSet", "spec": "no mapping"})["spec"] == "no mapping"
    stored = default_jobset(jobset(failurePolicy=policy))["spec"]["failurePolicy"]
    assert stored == policy or stored["rules"] == policy["rules"]


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        # Zero values of plain Go fields vanish, wherever they stand.
        ({"env": [{"name": "A", "value": ""}]}, {"env": [{"name": "A"}]}),
        ({"tty": False, "stdin": True, "workingDir": ""}, {"stdin": True}),
        (
            {"volumeMounts": [{"mountPath": "/a", "readOnly": False, "subPath": ""}]},
            {"volumeMounts": [{"mountPath": "/a"}]},
        ),
        ({"livenessProbe": {"periodSeconds": 0}}, {"livenessProbe": {}}),
        # Those of pointers stay.
        (
            {"securityContext": {"privileged": False, "runAsUser": 0}},
            {"securityContext": {"privileged": False, "runAsUser": 0}},
        ),
        (
            {"envFrom": [{"prefix": "", "secretRef": {"name": "", "optional": False}}]},
            {"envFrom": [{"secretRef": {"optional": False}}]},
        ),
        # Defaults of the CRD.
        (
            {"ports": [{"containerPort": 1, "hostPort": 0}, {"containerPort": 2, "protocol": "UDP"}]},
            {"ports": [{"containerPort": 1, "protocol": "TCP"}, {"containerPort": 2, "protocol": "UDP"}]},
        ),
        ({"livenessProbe": {"grpc": {"port": 1}}}, {"livenessProbe": {"grpc": {"port": 1, "service": ""}}}),
        # A quantity that is a value in Go is always written.
        (
            {"env": [{"name": "A", "valueFrom": {"resourceFieldRef": {"containerName": "", "resource": "r"}}}]},
            {"env": [{"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "r", "divisor": "0"}}}]},
        ),
        # Quantities are canonical.
        (
            {"resources": {"limits": {"cpu": "0.5", "nvidia.com/gpu": 8}, "requests": {"memory": "1024Mi"}}},
            {"resources": {"limits": {"cpu": "500m", "nvidia.com/gpu": "8"}, "requests": {"memory": "1Gi"}}},
        ),
    ],
)
def test_parts_of_a_container(given, stored):
    assert stored_container(**given) == stored


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ({"hostNetwork": False, "schedulerName": ""}, {}),
        ({"hostUsers": False, "priority": 0}, {"hostUsers": False, "priority": 0}),
        ({"overhead": {"cpu": 0.0}}, {"overhead": {"cpu": 0.0}}),
        (
            {"overhead": {"memory": 1024}, "resources": {"requests": {"cpu": "1.0"}}},
            {"overhead": {"memory": "1024"}, "resources": {"requests": {"cpu": "1"}}},
        ),
        ({"tolerations": [{"key": "", "tolerationSeconds": 0}]}, {"tolerations": [{"tolerationSeconds": 0}]}),
        ({"restartPolicy": ""}, {"restartPolicy": "OnFailure"}),
    ],
)
def test_parts_of_a_pod(given, stored):
    rest = {name: value for name, value in stored_pod(given).items() if name in given}
    assert rest == stored


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ({"emptyDir": {"medium": "", "sizeLimit": "0.5Gi"}}, {"emptyDir": {"sizeLimit": "512Mi"}}),
        ({"emptyDir": {}}, {"emptyDir": {}}),
        ({"hostPath": {"path": "/a", "type": ""}}, {"hostPath": {"path": "/a", "type": ""}}),
        (
            {"persistentVolumeClaim": {"claimName": "c", "readOnly": False}},
            {"persistentVolumeClaim": {"claimName": "c"}},
        ),
        (
            {"ephemeral": {"volumeClaimTemplate": {"spec": {"resources": {"requests": {"storage": "1024Gi"}}}}}},
            {"ephemeral": {"volumeClaimTemplate": {"spec": {"resources": {"requests": {"storage": "1Ti"}}}}}},
        ),
        (
            {"iscsi": {"lun": 0, "targetPortal": "", "iqn": "q"}},
            {"iscsi": {"lun": 0, "targetPortal": "", "iqn": "q", "iscsiInterface": "default"}},
        ),
    ],
)
def test_parts_of_a_volume(given, stored):
    assert stored_volume(**given) == stored


def test_labels_and_annotations_keep_empty_values():
    metadata = {"labels": {"a": ""}, "annotations": {"value": ""}}
    given = jobset() | {"metadata": metadata}
    assert default_jobset(given)["metadata"] == metadata


def test_only_a_jobset_changes_on_admission():
    secret = {"kind": "ConfigMap", "data": {"value": ""}}
    assert admit(secret) is secret
    assert admit({"kind": "JobSet", "spec": {}})["spec"]["successPolicy"] == {"operator": "All"}


def test_no_object_keeps_empty_labels_and_annotations():
    hostfile = {"kind": "ConfigMap", "metadata": {"name": "llm", "labels": {}, "annotations": {}}, "data": {}}
    assert admit(hostfile) == {"kind": "ConfigMap", "metadata": {"name": "llm"}, "data": {}}

"""The pods of a JobSet: names, addresses, order, marks, volumes."""

from __future__ import annotations

import pytest

from support.local_runs import container, step
from trainform.local.devices import check
from trainform.local.plan.model import Dependency, LocalFile, LocalMount
from trainform.local.plan.pods import plan_run
from trainform.local.plan.references import JobValues, Machine, NotHere
from trainform.local.plan.rewriting import rewriter

CONFIG_MAP = {"kind": "ConfigMap", "metadata": {"name": "files"}, "data": {"a": "1", "b": "2"}}
SECRET = {"kind": "Secret", "metadata": {"name": "key"}, "stringData": {"id": "k"}}


def run_of(*steps, attempt=0, **spec):
    jobset = {"metadata": {"name": "fit", "namespace": "ml"}, "spec": {"replicatedJobs": [*steps], **spec}}
    values = JobValues.of([CONFIG_MAP, SECRET], {})
    return plan_run(jobset, values, lambda number: f"127.0.0.{number + 1}", Machine(4, 0), attempt)


def test_every_pod_has_a_name_an_address_and_its_names_in_dns():
    run = run_of(step("data", container("a")), step("node", container("b"), pods=2, replicas=2))
    assert [(pod.name, pod.address) for pod in run.pods] == [
        ("fit-data-0-0", "127.0.0.1"),
        ("fit-node-0-0", "127.0.0.2"),
        ("fit-node-0-1", "127.0.0.3"),
        ("fit-node-1-0", "127.0.0.4"),
        ("fit-node-1-1", "127.0.0.5"),
    ]
    names = ("fit-node-1-0", "fit-node-1-0.fit", "fit-node-1-0.fit.ml.svc", "fit-node-1-0.fit.ml.svc.cluster.local")
    assert {run.hosts[name] for name in names} == {"127.0.0.4"}


def test_the_subdomain_is_the_networks():
    run = run_of(step("node", container("a")), network={"subdomain": "ring"})
    assert "fit-node-0-0.ring" in run.hosts
    assert "fit-node-0-0.fit" not in run.hosts


def test_steps_wait_as_they_say_or_in_order():
    waiting = step("node", container("a"), dependsOn=[{"name": "data", "status": "Complete"}])
    assert run_of(step("data", container("a")), waiting).steps[1].waits_for == (Dependency("data", "Complete"),)
    in_order = run_of(
        step("a", container("a")), step("b", container("a")), startupPolicy={"startupPolicyOrder": "InOrder"}
    )
    assert [each.waits_for for each in in_order.steps] == [(), (Dependency("a", "Ready"),)]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("jobset.sigs.k8s.io/jobset-name", "fit"),
        ("jobset.sigs.k8s.io/replicatedjob-name", "node"),
        ("jobset.sigs.k8s.io/replicatedjob-replicas", "2"),
        ("jobset.sigs.k8s.io/job-index", "1"),
        ("jobset.sigs.k8s.io/job-global-index", "2"),
        ("jobset.sigs.k8s.io/global-replicas", "3"),
        ("jobset.sigs.k8s.io/restart-attempt", "4"),
        ("batch.kubernetes.io/job-completion-index", "0"),
        ("batch.kubernetes.io/job-name", "fit-node-1"),
    ],
)
def test_labels_of_the_controllers(key, value):
    reference = {"valueFrom": {"fieldRef": {"fieldPath": f"metadata.labels['{key}']"}}}
    node = step("node", container("a", env=[{"name": "X", **reference}]), replicas=2)
    pod = run_of(step("data", container("a")), node, attempt=4).pods[-1]
    assert pod.containers[0].variables["X"] == value


def volumes(*volumes):
    [pod] = run_of(step("node", container("a"), pod={"volumes": [*volumes]})).pods
    return {volume.name: volume for volume in pod.volumes}


def test_volumes_become_folders_with_files():
    found = volumes(
        {"name": "all", "configMap": {"name": "files", "defaultMode": 0o755}},
        {"name": "some", "configMap": {"name": "files", "items": [{"key": "b", "path": "x/y", "mode": 0o400}]}},
        {"name": "me", "downwardAPI": {"items": [{"path": "name", "fieldRef": {"fieldPath": "metadata.name"}}]}},
        {"name": "both", "projected": {"sources": [{"configMap": {"name": "files"}}, {"secret": {"name": "key"}}]}},
        {"name": "scratch", "emptyDir": {}},
        {"name": "claim", "persistentVolumeClaim": {"claimName": "data"}},
    )
    assert found["all"].files == (LocalFile("a", b"1", 0o755), LocalFile("b", b"2", 0o755))
    assert found["some"].files == (LocalFile("x/y", b"2", 0o400),)
    assert found["me"].files == (LocalFile("name", b"fit-node-0-0"),)
    assert [file.path for file in found["both"].files] == ["a", "b", "id"]
    assert (found["scratch"].files, found["scratch"].read_only, found["claim"].claim) == ((), False, "data")


def test_mounts_may_show_a_part_of_a_volume_for_each_pod():
    mounts = [
        {"name": "v", "mountPath": "/a/", "subPath": "x"},
        {"name": "v", "mountPath": "/b", "subPathExpr": "parts/$(HOSTNAME)", "readOnly": True},
        {"name": "v", "mountPath": "/dev/shm"},
    ]
    [pod] = run_of(step("node", container("a", volumeMounts=mounts))).pods
    assert pod.containers[0].mounts == (
        LocalMount("/a", "v", "x"),
        LocalMount("/b", "v", "parts/fit-node-0-0", read_only=True),
    )


def test_files_of_a_secret_are_this_users_alone():
    items = [{"key": "id", "path": "id", "mode": 0o640}]
    assert volumes({"name": "s", "secret": {"secretName": "key", "items": items}})["s"].files[0].mode == 0o600


def test_a_volume_of_another_type_is_told():
    with pytest.raises(NotHere, match="of type nfs"):
        volumes({"name": "v", "nfs": {"server": "x", "path": "/"}})


def gpus(name, count, **more):
    return step(name, container("a", resources={"limits": {"nvidia.com/gpu": count}}), **more)


@pytest.mark.parametrize(
    ("status", "total", "enough"),
    [("Complete", 4, True), ("Complete", 3, False), ("Ready", 4, False), ("Ready", 6, True)],
)
def test_gpus_of_steps_that_run_together_are_counted(status, total, enough):
    run = run_of(gpus("data", 2), gpus("node", 2, pods=2, dependsOn=[{"name": "data", "status": status}]))
    if enough:
        check(run, total)
    else:
        with pytest.raises(NotHere, match=r"ask for \d GPUs"):
            check(run, total)


@pytest.mark.parametrize(
    ("text", "rewritten"),
    [
        ("fit-node-0-0.fit:29500", "127.0.0.1:29500"),
        ("http://fit-node-0-0.fit/x", "http://127.0.0.1/x"),
        ("fit-node-0-0.fit.ml.svc", "127.0.0.2"),
        ("fit-node-0-0.fitter", "fit-node-0-0.fitter"),
        ("my-fit-node-0-0.fit", "my-fit-node-0-0.fit"),
        ("/etc/mpi/hostfile", "/tmp/v/hostfile"),
        ("--file=/etc/mpi", "--file=/tmp/v"),
        ("/etc/mpirun", "/etc/mpirun"),
        ("/usr/etc/mpi", "/usr/etc/mpi"),
    ],
)
def test_without_namespaces_whole_names_and_paths_are_rewritten(text, rewritten):
    hosts = {"fit-node-0-0.fit": "127.0.0.1", "fit-node-0-0.fit.ml.svc": "127.0.0.2"}
    assert rewriter(hosts, {"/etc/mpi": "/tmp/v"})(text) == rewritten

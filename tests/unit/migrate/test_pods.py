"""The pods of a migrated job are those that the old operator made: checked against a model of the operators."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from support.migration import FILES, jobset, migrated
from support.operators import Pod, jobsets_pods, operators_pods, renamed

TORCHRUN = re.compile(r"torchrun|torch\.distributed\.run")
TORCHS_OWN = {"MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK"}
"""What torchrun sets for its processes, whatever it gets."""
ELASTIC = {"PET_RDZV_ENDPOINT", "PET_RDZV_BACKEND", "PET_RDZV_ID", "PET_RDZV_CONF"}
"""What torchrun needs only where its flags ask for that rendezvous: else it has that of a fixed number of nodes."""

POD_FIELDS = (
    "affinity",
    "hostNetwork",
    "imagePullSecrets",
    "nodeSelector",
    "schedulerName",
    "securityContext",
    "serviceAccountName",
    "terminationGracePeriodSeconds",
    "tolerations",
)
CONTAINER_FIELDS = ("image", "command", "args", "envFrom", "imagePullPolicy", "securityContext", "workingDir")


@pytest.fixture(params=FILES, ids=lambda path: path.stem)
def pair(request: pytest.FixtureRequest) -> tuple[dict[str, Any], list[Pod], list[Pod], dict[str, Any]]:
    """The old job, its pods, the new pods, and the JobSet."""
    path: Path = request.param
    text = path.read_text()
    old = next(iter(yaml.safe_load_all(text)))
    new = jobset(migrated(text))
    return old, operators_pods(old), jobsets_pods(new), new


def test_there_are_as_many(pair):
    _, old, new, _ = pair
    assert len(new) == len(old)


def test_they_run_the_same(pair):
    job, old, new, _ = pair
    for before, after in zip(old, new, strict=True):
        for key in CONTAINER_FIELDS:
            if job["kind"] == "MPIJob" and before.role == "Worker" and key == "command" and key not in before.main:
                assert after.main["command"] == ["/usr/sbin/sshd", "-De"]
            elif key in before.main:
                assert after.main[key] == renamed(before.main[key], old, new), key


def test_they_get_the_same_variables(pair):
    _, old, new, _ = pair
    for before, after in zip(old, new, strict=True):
        expected = renamed(before.env, old, new)
        line = json.dumps([before.main.get("command"), before.main.get("args")])
        left_out = TORCHS_OWN if TORCHRUN.search(line) and "$RANK" not in line else set()
        left_out |= set() if re.search("rdzv", line, re.IGNORECASE) else ELASTIC
        if expected.get("PET_NPROC_PER_NODE") == "auto":
            left_out = left_out | {"PET_NPROC_PER_NODE"}  # without GPUs the Trainer counts CPUs
        left_out = left_out | {"OMPI_MCA_plm_rsh_agent"}  # mpirun's hosts are reached by SSH
        for name in expected.keys() - left_out:
            value = expected[name]
            if name == "CPUS":
                value = {"resourceFieldRef": {"containerName": "node", "resource": "limits.cpu", "divisor": "0"}}
            assert after.env.get(name) == value, (before.host, name)


def test_they_ask_for_the_same(pair):
    _, old, new, _ = pair
    for before, after in zip(old, new, strict=True):
        for kind, amounts in (before.main.get("resources") or {}).items():
            asked = {name: str(amount) for name, amount in amounts.items()}
            assert asked.items() <= after.main["resources"][kind].items()


def test_they_have_the_same_volumes_and_sidecars(pair):
    _, old, new, _ = pair
    for before, after in zip(old, new, strict=True):
        names = {each["name"]: each for each in after.spec.get("volumes", ())}
        for volume in before.spec.get("volumes", ()):
            if "configMap" in volume:  # rendered with the job, under the job's name
                assert volume["configMap"]["name"] in names[volume["name"]]["configMap"]["name"]
            else:
                assert names[volume["name"]] == volume
        mounts = {each["mountPath"]: each for each in after.main.get("volumeMounts", ())}
        for mount in before.main.get("volumeMounts", ()):
            assert mounts[mount["mountPath"]] == mount
        for key in ("containers", "initContainers"):
            others = {each["name"]: each for each in after.spec.get(key, ())}
            for each in before.spec.get(key, ()):
                if each is not before.main:
                    assert renamed(each, old, new).items() <= others[each["name"]].items()


def test_they_stand_where_they_stood(pair):
    _, old, new, _ = pair
    for before, after in zip(old, new, strict=True):
        for key in POD_FIELDS:
            if key in before.spec:
                assert after.spec[key] == before.spec[key]
        assert (before.metadata.get("labels") or {}).items() <= (after.metadata.get("labels") or {}).items()
        annotations = before.metadata.get("annotations") or {}
        assert annotations.keys() <= after.metadata.get("annotations", {}).keys()


def test_they_are_restarted_as_they_were(pair):
    job, old, new, tree = pair
    limit = job["spec"].get("runPolicy", {}).get("backoffLimit")
    jobs = {each["name"]: each["template"]["spec"] for each in tree["spec"]["replicatedJobs"]}
    for before, after in zip(old, new, strict=True):
        spec = jobs[after.role]
        if before.restart == "Never":
            assert after.restart == "Never"
            assert spec["backoffLimit"] == 0 or before.role == "Launcher"
        elif before.restart == "ExitCode":
            assert after.restart == "Never"
            (rule,) = spec["podFailurePolicy"]["rules"]
            assert rule["action"] == "FailJob"
            assert rule["onExitCodes"] == {"containerName": "node", "operator": "In", "values": [*range(1, 128)]}
        else:
            assert after.restart == "OnFailure"
            assert spec.get("backoffLimit") == limit


def test_the_job_ends_and_is_cleaned_up_as_it_was(pair):
    job, old, new, tree = pair
    policy = job["spec"].get("runPolicy", {})
    assert tree["spec"].get("ttlSecondsAfterFinished") == policy.get("ttlSecondsAfterFinished")
    assert tree["spec"].get("suspend") == policy.get("suspend")
    deadlines = {each["template"]["spec"].get("activeDeadlineSeconds") for each in tree["spec"]["replicatedJobs"]}
    assert policy.get("activeDeadlineSeconds") in deadlines
    done_with = tree["spec"].get("successPolicy", {}).get("targetReplicatedJobs")
    roles = {before.role for before in old}
    if job["kind"] == "MPIJob" and roles == {"Launcher", "Worker"}:
        assert done_with == ["launcher"]
    elif len({after.role for after in new}) > 1 and len(roles) > 1:
        assert done_with == ["node"]  # the master, the chief

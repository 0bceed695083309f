"""`trainform run` with the real programs of other frameworks: Open MPI over sshd, JAX, XGBoost. Each test needs what it
is about: Debian's openmpi-bin and openssh-server, or the package jax or xgboost, which `--with-torch` installs."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from shutil import which

import pytest

from support.frameworks import networks_apart, require
from support.local_runs import LocalRepository, Tree, config_map, step

PROGRAMS = Path(__file__).parents[1] / "support" / "programs"

SSH_PORT = "2222"
CLIENT = f"Port {SSH_PORT}\nStrictHostKeyChecking no\nUserKnownHostsFile /dev/null\nLogLevel ERROR\n"
USERS = "root:x:0:0:root:/root:/bin/bash\nsshd:x:100:65534::/run/sshd:/usr/sbin/nologin\n"
"""What an image has, and this machine may have otherwise."""

SERVER = f"ssh-keygen -q -t ed25519 -N '' -f /run/keys/host && exec /usr/sbin/sshd -De -p {SSH_PORT} -h /run/keys/host"

MOUNTS = [
    {"name": "keys", "mountPath": "/run/keys"},
    {"name": "separation", "mountPath": "/run/sshd"},
    {"name": "files", "mountPath": "/etc/ssh/ssh_config.d/port.conf", "subPath": "port.conf"},
    {"name": "files", "mountPath": "/etc/passwd", "subPath": "passwd"},
]
VOLUMES = {
    "volumes": [
        {"name": "keys", "emptyDir": {}},
        {"name": "separation", "emptyDir": {}},
        {"name": "files", "configMap": {"name": "image"}},
    ]
}


def node(*command: str, **fields: object) -> Tree:
    return {"name": "node", "image": "example/mpi:1", "command": [*command], "volumeMounts": MOUNTS, **fields}


@pytest.mark.skipif(
    not (which("mpirun") and which("sshd", path="/usr/sbin")), reason="needs openmpi-bin, openssh-server"
)
@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="sshd changes its user, which takes root")
def test_mpirun_reaches_its_nodes_over_sshd_with_the_rendered_keys_and_hostfile(tmp_path):
    repository = LocalRepository(tmp_path)
    probe = {"tcpSocket": {"port": int(SSH_PORT)}, "periodSeconds": 1}
    launcher = step("launcher", node(), pod=VOLUMES, dependsOn=[{"name": "node", "status": "Ready"}])
    launcher["template"]["metadata"] = {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}}
    steps = [step("node", node("bash", "-c", SERVER, readinessProbe=probe), pod=VOLUMES), launcher]
    mpi = {
        "numProcPerNode": 1,
        "mpiImplementation": "OpenMPI",
        "sshAuthMountPath": "/root/.ssh",
        "runLauncherAsNode": True,
    }
    policy = {"operator": "All", "targetReplicatedJobs": ["launcher"]}
    repository.runtime(
        {"mlPolicy": {"mpi": mpi}, "template": {"spec": {"replicatedJobs": steps, "successPolicy": policy}}}
    )
    as_root = ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")
    trainer = {
        "image": "example/mpi:1",
        "numNodes": 3,
        "numProcPerNode": 2,
        "command": ["mpirun", "-np", "6", sys.executable, str(PROGRAMS / "mpi_sum.py")],
        "env": [{"name": name, "value": "1"} for name in as_root],
    }
    repository.job("steps", trainer, config_map("image", {"port.conf": CLIENT, "passwd": USERS}))
    ran = repository.run("--timeout", "180")
    assert ran.code == 0, f"{ran.out}\n{ran.err}"
    hosts = ("fit-launcher-0-0", "fit-node-0-0", "fit-node-0-1")
    assert sorted(line for line in ran.lines("launcher-0-0") if line.startswith("rank ")) == [
        f"rank {rank} of 6 on {hosts[rank // 2]}: 15" for rank in range(6)
    ]


def test_jax_processes_meet_at_their_coordinator(tmp_path):
    require("jax")
    repository = LocalRepository(tmp_path)
    command = [sys.executable, str(PROGRAMS / "jax_sum.py")]
    env = [{"name": "JAX_PLATFORMS", "value": "cpu"}]
    repository.job("jax-distributed", {"image": "example/jax:1", "numNodes": 2, "command": command, "env": env})
    ran = repository.run("--timeout", "180", *networks_apart())
    assert ran.code == 0, f"{ran.out}\n{ran.err}"
    assert ["process 0 of 2: 3" in ran.lines("node-0-0"), "process 1 of 2: 3" in ran.lines("node-0-1")] == [True, True]


def test_workers_of_xgboost_meet_at_the_tracker(tmp_path):
    require("xgboost")
    repository = LocalRepository(tmp_path)
    command = [sys.executable, str(PROGRAMS / "xgboost_fit.py")]
    repository.job("xgboost-distributed", {"image": "example/xgboost:1", "numNodes": 2, "command": command})
    ran = repository.run("--timeout", "180", *networks_apart())
    assert ran.code == 0, f"{ran.out}\n{ran.err}"
    assert sorted(line for line in ran.out.splitlines() if "rounds" in line and "worker" in line) == [
        "node-0-0 | worker 0 of 2: 5 rounds",
        "node-0-1 | worker 1 of 2: 5 rounds",
    ]

"""Flux: what the plugin adds to the pods, and what it says."""

from __future__ import annotations

import tomllib

import pytest

import trainform

JOB = """
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: solver, namespace: team-a}
spec:
  runtimeRef: {name: flux}
"""


def stream(trainer="numNodes: 4", *, node="command: [solve]", job="node", spec="", pod=""):
    runtime = f"""
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {{name: flux}}
spec:
  mlPolicy: {{numNodes: 2, flux: {{numProcPerNode: 2}}}}
  template:
    spec:
      {spec or "suspend: false"}
      replicatedJobs:
      - name: {job}
        template:
          metadata: {{labels: {{trainer.kubeflow.org/trainjob-ancestor-step: trainer}}}}
          spec:
            template:
              spec:
                {pod or "restartPolicy: Never"}
                containers:
                - {{name: node, image: "acme/solver:1", {node}}}
"""
    return f"{runtime}---{JOB}  trainer: {{{trainer}}}\n" if trainer is not None else f"{runtime}---{JOB}"


def compiled(*args, **kwargs):
    (job,) = trainform.compile_stream(stream(*args, **kwargs))["jobs"]
    return job


def objects(*args, **kwargs):
    return {tree["kind"]: tree for tree in compiled(*args, **kwargs)["objects"]}


def pod_spec(*args, **kwargs):
    (replicated_job,) = objects(*args, **kwargs)["JobSet"]["spec"]["replicatedJobs"]
    return replicated_job["template"]["spec"]["template"]["spec"]


def scripts(*args, **kwargs):
    return objects(*args, **kwargs)["ConfigMap"]["data"]


def broker(*args, **kwargs):
    """The broker's configuration as init.sh writes it."""
    init = scripts(*args, **kwargs)["init.sh"]
    return tomllib.loads(init.split("<<'END'\n")[1].split("\nEND\n")[0])


def told(job):
    """All but the Secret that every job needs, and what the lints say of the image."""
    others = (d for d in job["diagnostics"] if d["code"] not in ("TF320", "TF608"))
    return [(d["code"], d["severity"], d["field"]) for d in others]


def test_the_installer_is_the_last_init_container():
    pod = pod_spec(pod="initContainers: [{name: warmup, image: 'acme/warmup:1'}]")
    assert [c["name"] for c in pod["initContainers"]] == ["warmup", "flux-installer"]
    installer = pod["initContainers"][-1]
    assert installer["image"] == "ghcr.io/converged-computing/flux-view-ubuntu:tag-jammy"
    assert [m["mountPath"] for m in installer["volumeMounts"]] == ["/mnt/flux", "/etc/flux-config"]


def test_the_certificate_is_referred_to_and_never_made():
    job = compiled()
    assert {tree["kind"] for tree in job["objects"]} == {"ConfigMap", "JobSet"}
    secret = {"name": "flux-curve", "secret": {"secretName": "solver-flux-curve", "defaultMode": 0o400}}
    assert secret in pod_spec()["volumes"]
    (info,) = [d for d in job["diagnostics"] if d["code"] == "TF320"]
    assert info["severity"] == "info"
    assert "solver-flux-curve" in info["message"]


@pytest.mark.parametrize(
    ("node", "trainer", "command", "args"),
    [
        ("command: [solve]", "numNodes: 1", "solve", None),
        ("command: [solve, -v]", "numNodes: 1, args: [a b, c]", "solve -v a b c", None),
        ("command: [solve], args: [own]", "numNodes: 1", "solve", ["own"]),
        ("command: [solve], args: [own]", "numNodes: 1, args: [a]", "solve a", ["own"]),
        ("command: [solve]", "numNodes: 1, command: [python, x.py]", "python x.py", None),
        ("command: [sh, -c, 'run\n\n']", "numNodes: 1", "sh -c run", None),
        ("env: []", "numNodes: 1", "", None),
    ],
)
def test_the_entrypoint_takes_the_joined_command_as_the_controller_has_it(node, trainer, command, args):
    (container,) = pod_spec(trainer, node=node)["containers"]
    assert container["command"] == ["/bin/bash", "/etc/flux-config/entrypoint.sh", command]
    assert container.get("args") == args


@pytest.mark.parametrize(
    ("trainer", "count", "hosts", "run"),
    [
        ("numNodes: 1", 1, "solver-node-0-0", "-N 1 -n 2 "),
        ("numNodes: 4", 4, "solver-node-0-[0-3]", "-N 4 -n 8 "),
        ("numNodes: 4, numProcPerNode: 8", 4, "solver-node-0-[0-3]", "-N 4 -n 32 "),
        ("numProcPerNode: 1", 2, "solver-node-0-[0-1]", "-N 2 -n 2 "),
        (None, 2, "solver-node-0-[0-1]", "-N 2 -n 4 "),
    ],
)
def test_nodes_and_processes(trainer, count, hosts, run):
    jobset = objects(trainer)["JobSet"]
    assert jobset["spec"]["replicatedJobs"][0]["template"]["spec"]["parallelism"] == count
    config = broker(trainer)
    assert config["bootstrap"]["hosts"] == [{"host": hosts}]
    assert config["resource"]["config"][0]["hosts"] == hosts
    assert f"flux run {run}" in scripts(trainer)["entrypoint.sh"]


def test_the_brokers_meet_below_the_subdomain():
    bootstrap = broker(spec="network: {subdomain: ranks}", job="solvers")["bootstrap"]
    assert bootstrap["default_connect"] == "tcp://%h.ranks:%p"
    assert bootstrap["hosts"] == [{"host": "solver-solvers-0-[0-3]"}]


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        ("{}", {"cores": "0-1"}),
        ("{limits: {nvidia.com/gpu: 1}}", {"cores": "0-1", "gpus": "0"}),
        ("{limits: {nvidia.com/gpu: 8}}", {"cores": "0-1", "gpus": "0-7"}),
    ],
)
def test_gpus_are_flux_resources_and_cores_count_tasks(resources, expected):
    (config,) = broker(node=f"command: [solve], resources: {resources}")["resource"]["config"]
    assert config == {"hosts": "solver-node-0-[0-3]", **expected}


@pytest.mark.parametrize(
    ("runtimes", "trainers", "image", "device", "policy"),
    [
        ("", "", "ghcr.io/converged-computing/flux-view-ubuntu:tag-jammy", "eth0", "fcfs"),
        (
            "{name: FLUX_NETWORK_DEVICE, value: ib0}",
            "{name: FLUX_QUEUE_POLICY, value: easy}",
            "ghcr.io/converged-computing/flux-view-ubuntu:tag-jammy",
            "ib0",
            "easy",
        ),
        (
            "{name: FLUX_VIEW_IMAGE, value: acme/flux:1}",
            "{name: FLUX_VIEW_IMAGE, value: acme/flux:2}",
            "acme/flux:2",
            "eth0",
            "fcfs",
        ),
    ],
)
def test_settings_are_variables_and_the_trainjobs_win(runtimes, trainers, image, device, policy):
    sources = {"trainer": f"numNodes: 1, env: [{trainers}]", "node": f"command: [solve], env: [{runtimes}]"}
    assert pod_spec(**sources)["initContainers"][0]["image"] == image
    config = broker(**sources)
    assert config["bootstrap"]["default_bind"] == f"tcp://{device}:%p"
    assert config["sched-fluxion-qmanager"]["queue-policy"] == policy
    assert ("sched-fluxion" in scripts(**sources)["entrypoint.sh"]) == (policy != "fcfs")


def test_a_setting_cannot_break_out_of_the_configuration():
    device = r"""{name: FLUX_NETWORK_DEVICE, value: "ib0\"\nEND\n$(reboot)"}"""
    config = broker(f"numNodes: 1, env: [{device}]")
    assert config["bootstrap"]["default_bind"] == 'tcp://ib0"\nEND\n$(reboot):%p'


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        ({}, []),
        ({"trainer": None}, [("TFD08", "info", "spec")]),
        ({"trainer": "numProcPerNode: 1"}, [("TFD08", "info", "spec")]),
        ({"job": "solvers"}, [("TFD17", "info", "spec.runtimeRef.name")]),
        ({"spec": "network: {subdomain: ranks}"}, [("TFD17", "info", "spec.runtimeRef.name")]),
        ({"node": "env: []"}, [("TF342", "warning", "spec.trainer")]),
        (
            {"trainer": "numNodes: 1, env: [{name: FLUX_NETWORK_DEVICE}]"},
            [("TF340", "error", "spec.trainer.env")],
        ),
        (
            {"pod": "initContainers: [{name: flux-installer, image: 'acme/flux:1'}]"},
            [("TF341", "error", "spec.trainer.initContainers")],
        ),
    ],
)
def test_what_is_told(sources, expected):
    assert told(compiled(**sources)) == expected

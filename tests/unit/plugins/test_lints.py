"""Lints: what they let pass, since a false alarm costs more trust than a missed one."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from trainform import compile_stream

Tree = dict[str, Any]

STEP = "trainer.kubeflow.org/trainjob-ancestor-step"
IMAGE = f"llm@sha256:{0:064}"


def compiled(
    *,
    trainer: Tree | None = None,
    node: Tree | None = None,
    pod: Tree | None = None,
    others: tuple[Tree, ...] = (),
    ml: Tree | None = None,
    more: Tree | None = None,
    name: str = "own",
) -> Tree:
    """One job on one runtime: `others` are containers beside `node`, `more` is of the JobSet's spec."""
    spec: Tree = {"containers": [{"name": "node", "image": IMAGE, **(node or {})}, *others], **(pod or {})}
    job = {
        "name": "node",
        "template": {"metadata": {"labels": {STEP: "trainer"}}, "spec": {"template": {"spec": spec}}},
    }
    head = {"apiVersion": "trainer.kubeflow.org/v1alpha1"}
    runtime_spec = {
        "mlPolicy": ml or {"torch": {}},
        "template": {"spec": {"replicatedJobs": [job], **(more or {})}},
    }
    runtime = {**head, "kind": "ClusterTrainingRuntime", "metadata": {"name": name}, "spec": runtime_spec}
    job_spec = {"runtimeRef": {"name": name}, "trainer": trainer or {}}
    train_job = {**head, "kind": "TrainJob", "metadata": {"name": "llm"}, "spec": job_spec}
    result: Tree
    (result,) = compile_stream(yaml.safe_dump_all([runtime, train_job]))["jobs"]
    return result


def told(result: Tree, *codes: str) -> list[str]:
    """The lints' codes, or the messages of those in `codes`."""
    lints = [d for d in result["diagnostics"] if d["plugin"] == "lints"]
    return [d["message"] for d in lints if d["code"] in codes] if codes else [d["code"] for d in lints]


def gpus(number: int) -> Tree:
    return {"limits": {"nvidia.com/gpu": number}}


def test_a_plain_job_draws_no_lint():
    assert told(compiled(trainer={"numNodes": 2, "command": ["torchrun", "train.py"]})) == []


@pytest.mark.parametrize(
    ("image", "resources", "code"),
    [
        ("pytorch:2.13-cuda13", {}, "TF601"),
        ("nvcr.io/nvidia/jax:25", {}, "TF601"),
        ("rocm/pytorch:7", {}, "TF601"),
        ("pytorch:2.13-cuda13", gpus(1), ""),
        ("pytorch:2.13-cuda13", {"limits": {"nvidia.com/mig-1g.5gb": 1}}, ""),
        ("pytorch:2.13-cuda13", {"limits": {"google.com/tpu": 4}}, ""),
        ("pytorch:2.13-cpu", gpus(1), "TF602"),
        ("pytorch:2.13-cpu", {}, ""),
        ("cpu-or-gpu:1", gpus(1), ""),
        ("barracuda:1", {}, ""),
        ("python:3.13", gpus(1), ""),
    ],
)
def test_images_and_gpus(image, resources, code):
    result = compiled(node={"image": image, "resources": resources})
    assert [each for each in told(result) if each in ("TF601", "TF602")] == [code] * bool(code)


@pytest.mark.parametrize(
    ("ml", "trainer", "number"),
    [
        ({"torch": {}}, {}, 1),
        ({"torch": {}}, {"numProcPerNode": 2}, 0),
        ({"xgboost": {}}, {"numNodes": 3}, 1),
        ({"jax": {}}, {}, 0),
    ],
)
def test_slices_of_gpus(ml, trainer, number):
    resources = {"limits": {"nvidia.com/mig-1g.5gb": 2}}
    assert len(told(compiled(ml=ml, trainer=trainer, node={"resources": resources}), "TF603")) == number


def test_slices_that_are_as_many_as_the_cpus():
    resources = {"limits": {"nvidia.com/mig-1g.5gb": 2, "cpu": 2}}
    assert told(compiled(node={"resources": resources}), "TF603") == []


def claimed(*claims: Tree, template: Tree | None = None, **job: Any) -> list[str]:
    """What is told of a node with resource claims, the first of which has a template in the cluster facts."""
    asked: Tree = {"resourceClaims": [{"name": "accelerators", "resourceClaimTemplateName": "four"}]}
    head = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate"}
    requests = template or {"requests": [{"name": "a", "exactly": {"deviceClassName": "x", "count": 4}}]}
    spec = {"spec": {"devices": requests}}
    fact = {**head, "metadata": {"name": "four", "namespace": "team-a"}, "spec": spec}
    node = {"resources": {"claims": [*claims] or [{"name": "accelerators"}]}}
    return [
        problem["message"]
        for problem in devices_of(fact, asked, node, **job)["diagnostics"]
        if problem["code"] == "TF603"
    ]


def devices_of(fact: Tree, pod: Tree, node: Tree, processes: int | None = None) -> Tree:
    spec = {"containers": [{"name": "node", "image": IMAGE, **node}], **pod}
    job = {
        "name": "node",
        "template": {"metadata": {"labels": {STEP: "trainer"}}, "spec": {"template": {"spec": spec}}},
    }
    head = {"apiVersion": "trainer.kubeflow.org/v1alpha1"}
    body = {"mlPolicy": {"torch": {}}, "template": {"spec": {"replicatedJobs": [job]}}}
    runtime = {**head, "kind": "ClusterTrainingRuntime", "metadata": {"name": "own"}, "spec": body}
    trainer = {"numProcPerNode": processes} if processes else {}
    wanted = {"runtimeRef": {"name": "own"}, "trainer": trainer}
    llm = {**head, "kind": "TrainJob", "metadata": {"name": "llm", "namespace": "team-a"}, "spec": wanted}
    result: Tree
    (result,) = compile_stream(yaml.safe_dump_all([runtime, fact, llm]))["jobs"]
    return result


COUNTED = "claim accelerators does not count as a GPU: PET_NPROC_PER_NODE is 1"


def test_the_devices_of_a_claim_are_counted_in_its_template():
    assert claimed() == [f"{COUNTED}, not 4"]
    assert claimed({"name": "accelerators", "request": "a"}) == [f"{COUNTED}, not 4"]


@pytest.mark.parametrize(
    "template",
    [
        {"requests": [{"name": "a", "exactly": {"deviceClassName": "x", "allocationMode": "All"}}]},
        {"requests": [{"name": "a", "firstAvailable": [{"name": "b", "deviceClassName": "x", "count": 4}]}]},
        {"requests": []},
    ],
)
def test_a_claim_of_unknown_size_is_told_without_a_number(template):
    assert claimed(template=template) == [COUNTED]


def test_only_the_requests_that_a_container_uses_count():
    counts = {"a": 2, "b": 3}
    requests = [{"name": name, "exactly": {"deviceClassName": "x", "count": counts[name]}} for name in counts]
    assert claimed({"name": "accelerators", "request": "b"}, template={"requests": requests}) == [f"{COUNTED}, not 3"]
    assert claimed(template={"requests": requests}) == [f"{COUNTED}, not 5"]


def test_a_claim_that_the_pod_does_not_have_is_of_unknown_size():
    (message,) = claimed({"name": "accelerators"}, {"name": "others"})
    assert message.startswith("claim accelerators, claim others does not count")
    assert message.endswith("is 1, not 4")


def test_a_number_of_processes_that_somebody_wrote_is_right():
    assert claimed(processes=2) == []


@pytest.mark.parametrize(
    ("trainer", "pod", "path", "number"),
    [
        (gpus(1), {}, "/tmp", 0),
        (gpus(2), {}, "/tmp", 1),
        (gpus(2), {"hostIPC": True}, "/tmp", 0),
        (gpus(2), {}, "/dev/shm/", 0),
        (gpus(2), {"volumes": [{"name": "shm", "emptyDir": {}}]}, "/dev/shm", 1),
        (gpus(2), {"volumes": [{"name": "shm", "hostPath": {"path": "/dev/shm"}}]}, "/dev/shm", 0),
    ],
)
def test_shared_memory(trainer, pod, path, number):
    volumes = {"volumes": [{"name": "shm", "emptyDir": {"medium": "Memory"}}]}
    node = {"volumeMounts": [{"name": "shm", "mountPath": path}]}
    result = compiled(trainer={"resourcesPerNode": trainer}, pod={**volumes, **pod}, node=node)
    assert len(told(result, "TF604")) == number


@pytest.mark.parametrize(("missing", "count"), [("", 0), ("MASTER_ADDR", 1), ("WORLD_SIZE", 1), ("RANK", 1)])
def test_a_script_that_gets_the_rendezvous_itself_is_one_process_of_many(missing: str, count: int):
    names = [name for name in ("MASTER_ADDR", "WORLD_SIZE", "RANK") if name != missing]
    env = [{"name": name, "value": "1"} for name in names]
    result = compiled(trainer={"numNodes": 2, "command": ["python", "train.py"], "env": env})
    assert len(told(result, "TF634")) == count


def test_two_processes_on_one_gpu_share_memory():
    result = compiled(trainer={"numProcPerNode": 2, "resourcesPerNode": gpus(1)})
    assert len(told(result, "TF604")) == 1


@pytest.mark.parametrize(
    ("line", "flag"),
    [
        ("torchrun --nnodes=2 train.py", ""),
        ("torchrun --nnodes 2:2 train.py", ""),
        ("torchrun --nnodes 1:4 train.py", "--nnodes 1:4"),
        ("/opt/conda/bin/torchrun --nproc-per-node=gpu train.py", ""),
        ("torchrun --nproc_per_node=2 train.py", "--nproc_per_node=2"),
        ("torchrun --node_rank=$PET_NODE_RANK train.py", ""),
        ("torchrun --node_rank 0 train.py", "--node_rank 0"),
        ("torchrun --standalone train.py", "--standalone"),
        ("torchrun --master-port=29501 train.py", "--master-port=29501"),
        ("torchrun --rdzv-endpoint=llm-node-0-0.llm:29400 train.py", ""),
        ("torchrun --rdzv_endpoint=10.0.0.1 train.py", "--rdzv_endpoint=10.0.0.1"),
        ("torchrun --rdzv_backend=c10d train.py", "--rdzv_backend=c10d"),
        ("torchrun --rdzv-backend static train.py", ""),
        ("torchrun --rdzv-backend=c10d --rdzv-endpoint=$PET_MASTER_ADDR:29400 train.py", ""),
        ("torchrun train.py --nnodes=7", ""),
        ("python -m torch.distributed.run --nnodes=1 train.py", "--nnodes=1"),
        ("python train.py --nnodes=7", ""),
        ("accelerate launch --num_machines 2 --num_processes 16 train.py", ""),
        ("accelerate launch --num-processes=8 train.py", "--num-processes=8"),
        ("accelerate launch --main_process_ip localhost train.py", "--main_process_ip localhost"),
        ("accelerate launch --mixed_precision bf16 train.py", ""),
    ],
)
@pytest.mark.parametrize("as_text", [False, True])
def test_flags_of_launchers(line, flag, as_text):
    command = ["sh", "-c", f"cd /work && {line}"] if as_text else line.split()
    resources = {**gpus(8), "requests": {"cpu": 8}}
    result = compiled(trainer={"numNodes": 2, "command": command, "resourcesPerNode": resources})
    assert [message.partition(" overrides ")[0] for message in told(result, "TF605")] == [flag] * bool(flag)


def test_a_single_node_may_stand_alone():
    line = "torchrun --standalone --master-addr=localhost --node-rank=0 --nnodes=1 train.py"
    assert told(compiled(trainer={"command": line.split()}), "TF605") == []


def test_flags_are_free_where_nothing_is_injected():
    result = compiled(ml={"jax": {}}, trainer={"command": ["torchrun", "--nnodes=7", "train.py"]})
    assert told(result, "TF605") == []


@pytest.mark.parametrize(
    ("port", "number"),
    [
        ({"containerPort": 29500}, 1),
        ({"containerPort": 29500, "protocol": "UDP"}, 0),
        ({"containerPort": 9090}, 0),
    ],
)
def test_ports_of_two_containers(port, number):
    side = {"name": "side", "image": IMAGE, "ports": [port]}
    assert len(told(compiled(others=(side,)), "TF606")) == number


@pytest.mark.parametrize(("policy", "number"), [({}, 0), ({"restartPolicy": "Always"}, 1)])
def test_only_init_containers_that_stay_hold_their_port(policy, number):
    init = {"name": "side", "image": IMAGE, "ports": [{"containerPort": 29500}], **policy}
    assert len(told(compiled(pod={"initContainers": [init]}), "TF606")) == number


@pytest.mark.parametrize(
    ("image", "code"),
    [
        ("llm", "TF607"),
        ("llm:latest", "TF607"),
        ("registry.example.com:5000/llm", "TF607"),
        ("registry.example.com:5000/llm:1", "TF608"),
        (IMAGE, ""),
    ],
)
def test_tags(image, code):
    assert told(compiled(trainer={"image": image})) == [code] * bool(code)


def test_images_of_a_shipped_runtime_are_not_the_jobs_to_pin():
    job = """
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        metadata: {name: llm}
        spec: {runtimeRef: {name: deepspeed-distributed}, trainer: {numNodes: 2}}
    """
    (result,) = compile_stream(job)["jobs"]
    assert told(result) == []


@pytest.mark.parametrize(
    ("node", "trainer", "field"),
    [
        ({"command": ["torchrun", "a.py"]}, {"command": ["python", "b.py"]}, "command"),
        ({"command": ["sh", "-c"], "args": ["torchrun a.py"]}, {"args": ["python b.py"]}, "args"),
        ({"command": ["torchrun", "a.py"]}, {"command": ["torchrun", "b.py"]}, ""),
        ({"command": ["torchrun"], "args": ["a.py"]}, {"args": ["b.py"]}, ""),
        ({"command": ["torchrun", "a.py"]}, {"command": ["bash", "train.sh"]}, ""),
        ({"command": ["python", "a.py"]}, {"command": ["python", "b.py"]}, ""),
        ({"command": ["python", "-m", "torch.distributed.run"]}, {"command": ["/bin/accelerate"]}, ""),
    ],
)
def test_commands_that_drop_a_launcher(node, trainer, field):
    (*messages,) = told(compiled(node=node, trainer=trainer), "TF609")
    assert [message.split(",")[0] for message in messages] == [f"replaces the runtime's {field}"] * bool(field)


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("llm-node-0-1.llm", True),
        ("llm-node-0-1.llm.default.svc.cluster.local:8080", True),
        ("llm-node-0-2.llm", False),
        ("llm-node-1-0.llm", False),
        ("llm-worker-0-0.llm", False),
        ("tcp://llm-node-0-0.pods:80", False),
        ("llm-2-node-0-0.llm-2", True),
        ("/checkpoints/llm-eval-0-1.pt", True),
    ],
)
def test_host_names(text, known):
    result = compiled(trainer={"numNodes": 2, "env": [{"name": "PEER", "value": text}]})
    assert (told(result, "TF612") == []) == known


@pytest.mark.parametrize("policy", ["ClusterFirstWithHostNet", "None"])
def test_pods_on_the_nodes_network_may_ask_the_cluster(policy):
    pod = {"hostNetwork": True, "dnsPolicy": policy, "dnsConfig": {"nameservers": ["10.0.0.10"]}}
    assert told(compiled(pod=pod), "TF613") == []


def test_host_names_are_needed_by_frameworks_only():
    assert told(compiled(ml={"numNodes": 1}, more={"network": {"enableDNSHostnames": False}}), "TF613") == []


@pytest.mark.parametrize(
    ("runtimes", "jobs", "number"),
    [
        ({}, {"limits": {"cpu": 8}}, 1),
        ({}, {"limits": {"cpu": 8}, "requests": {"cpu": 4}}, 0),
        ({"requests": {"cpu": 8}}, {"limits": {"cpu": 8}}, 0),
        ({"requests": {"cpu": 4}}, {"limits": {"cpu": 8}}, 1),
        ({"limits": {"memory": "1Gi"}}, {}, 1),
        ({}, gpus(1), 0),
    ],
)
def test_limits(runtimes, jobs, number):
    result = compiled(node={"resources": runtimes}, trainer={"resourcesPerNode": jobs})
    assert len(told(result, "TF614")) == number


DIGEST = f"@sha256:{0:064}"


@pytest.mark.parametrize(
    "image",
    [
        f"llm{DIGEST}",
        f"localhost:5000/a/b__c/d--e.f:V1.2_x{DIGEST}",
        f"Registry.Example.com/llm{DIGEST}",
        f"123456789.dkr.ecr.us-east-1.amazonaws.com/x/y{DIGEST}",
    ],
)
def test_an_image_that_a_kubelet_can_pull(image):
    assert told(compiled(trainer={"image": image})) == []


@pytest.mark.parametrize(
    ("image", "hint"),
    [
        ("registry.example.com/LLM:V1", "write registry.example.com/llm:V1"),
        ("registry.example.com/llm: 1.4.0", "write registry.example.com/llm:1.4.0"),
        ("https://ghcr.io/a/b:1", "write ghcr.io/a/b:1"),
        ("“llm:1”", "write llm:1"),
        ("{{ registry }}/llm", "write registry/path/name:tag, without spaces"),
        ("a b", "write registry/path/name:tag, without spaces"),
        ("-" * 300, "write registry/path/name:tag, without spaces"),
    ],
)
def test_an_image_that_no_kubelet_can_pull(image, hint):
    lints = [d for d in compiled(trainer={"image": image})["diagnostics"] if d["plugin"] == "lints"]
    assert [(d["code"], d["field"], d["hint"]) for d in lints] == [("TF618", "spec.trainer.image", hint)]


@pytest.mark.parametrize(
    ("resources", "problem", "hint"),
    [
        ({"memory": 64}, "memory is only 64 bytes: probably a mistake", "write 64Mi or 64Gi"),
        (
            {"memory": "400m"},
            "memory is only 400 thousandths of a byte: probably a mistake",
            "write 400Mi or 400Gi",
        ),
        ({"nvidia.com/gpus": 8}, "no node offers nvidia.com/gpus", "write nvidia.com/gpu"),
        ({"nvidia/gpu": 8}, "no node offers nvidia/gpu", "write nvidia.com/gpu"),
        ({"amd.com/GPU": 8}, "no node offers amd.com/GPU", "write amd.com/gpu"),
    ],
)
def test_a_resource_that_is_hardly_meant(resources, problem, hint):
    trainer = {"resourcesPerNode": {"limits": resources, "requests": resources}}
    lints = [d for d in compiled(trainer=trainer)["diagnostics"] if d["code"] == "TF619"]
    assert [(d["message"].split(",")[0], d["hint"]) for d in lints] == [(problem, hint)]


@pytest.mark.parametrize(
    "name", ["nvidia.com/mig-1g.5gb", "nvidia.com/gpu.shared", "example.com/gpu", "nvidia.com/pgpu"]
)
def test_a_device_may_have_a_name_of_its_own(name):
    assert (
        told(compiled(trainer={"resourcesPerNode": {"limits": {name: 1, "memory": "1Gi", "cpu": "64"}}}), "TF619") == []
    )


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("hf_" + "a" * 34, "Hugging Face token"),
        ("AKIA" + "A" * 16, "AWS access key"),
        ("--token=ghp_" + "a" * 36, "GitHub token"),
        ("glpat-" + "a" * 20, "GitLab token"),
        ("hf_home", ""),
        ("s3://bucket/AKIA", ""),
        ("sha256:" + "a" * 64, ""),
        ("$(HF_TOKEN)", ""),
    ],
)
@pytest.mark.parametrize("place", ["trainer", "sidecar", "command"])
def test_tokens_in_the_clear_are_told_without_showing_them(text, kind, place):
    env = {"env": [{"name": "OWN", "value": text}]}
    given: dict[str, Tree] = {
        "trainer": {"trainer": env},
        "sidecar": {"others": ({"name": "log", "image": IMAGE, **env},)},
        "command": {"trainer": {"command": ["torchrun", "train.py", text]}},
    }
    result = compiled(**given[place])
    found = [each for each in result["diagnostics"] if each["code"] == "TF638"]
    assert [each["severity"] for each in found] == ["warning"] * bool(kind)
    assert all(f"looks like a {kind}" in each["message"] for each in found)
    assert text not in str(found)

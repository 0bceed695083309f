"""Jobs that would render, start and train wrongly: what is told, and what must stay silent."""

from __future__ import annotations

import pytest

from trainform.k8s.devices import is_gpu, is_gpu_share, is_uncounted
from unit.plugins.test_lints import compiled, gpus, told

RUN = ["torchrun", "train.py"]
NO_VARIABLE = "$(NOPE) stays as it is: the container has no variable NOPE"


@pytest.mark.parametrize(
    ("name", "gpu", "share", "uncounted"),
    [
        ("nvidia.com/gpu", True, False, False),
        ("amd.com/gpu", True, False, False),
        ("nvidia.com/gpu.shared", True, False, False),
        ("gpu.intel.com/i915", True, False, False),
        ("nvidia.com/gpualloc", True, False, False),
        ("volcano.sh/vgpu-number", True, False, False),
        ("volcano.sh/vgpu-memory", False, True, False),
        ("volcano.sh/vgpu-cores", False, True, False),
        ("nvidia.com/gpumem-percentage", False, True, False),
        ("aliyun.com/gpu-core.percentage", False, True, False),
        ("tencent.com/vcuda-core", False, False, False),
        ("koordinator.sh/gpu", False, True, False),
        ("koordinator.sh/gpu-memory-ratio", False, True, False),
        ("gpu.intel.com/millicores", False, True, False),
        ("nvidia.com/mig-1g.5gb", False, False, True),
        ("habana.ai/gaudi", False, False, True),
        ("aws.amazon.com/neuron", False, False, True),
        ("aws.amazon.com/neuroncore", False, False, True),
        ("huawei.com/Ascend910B", False, False, True),
        ("huawei.com/Ascend910B-memory", False, False, False),
        ("google.com/tpu", False, False, True),
        ("vpc.amazonaws.com/efa", False, False, False),
        ("rdma/hca_shared_devices_a", False, False, False),
        ("cpu", False, False, False),
        ("memory", False, False, False),
        ("hugepages-2Mi", False, False, False),
    ],
)
def test_what_a_device_is(name, gpu, share, uncounted):
    assert (is_gpu(name), is_gpu_share(name), is_uncounted(name)) == (gpu, share, uncounted)


@pytest.mark.parametrize(
    ("resources", "processes"),
    [
        ({"limits": {"cpu": 8, "nvidia.com/gpumem": 4000}}, "auto"),
        ({"limits": {"cpu": 8, "koordinator.sh/gpu": 50}}, "auto"),
        ({"limits": {"cpu": 8, "nvidia.com/gpumem": 0}}, "8"),
        ({"limits": {"cpu": 8, "habana.ai/gaudi": 2}}, "8"),
    ],
)
def test_a_share_of_a_gpu_is_one_gpu(resources, processes):
    node = compiled(node={"resources": resources})["objects"][-1]["spec"]["replicatedJobs"][0]
    env = node["template"]["spec"]["template"]["spec"]["containers"][0]["env"]
    assert next(each["value"] for each in env if each["name"] == "PET_NPROC_PER_NODE") == processes


def test_a_flag_that_corrects_a_wrong_count_is_no_contradiction():
    trainer = {"command": ["torchrun", "--nproc-per-node=8", "train.py"]}
    node = {"resources": {"limits": {"cpu": 80, "habana.ai/gaudi": 8}}}
    assert len(told(compiled(trainer=trainer, node=node), "TF603")) == 1
    assert told(compiled(trainer=trainer, node=node), "TF605") == []
    assert len(told(compiled(trainer={**trainer, "numProcPerNode": 4}, node=node), "TF605")) == 1


@pytest.mark.parametrize(
    ("trainer", "messages"),
    [
        (
            {"command": ["torchrun", "--x=$(NOPE)", "t.py"]},
            [NO_VARIABLE],
        ),
        ({"command": ["torchrun", "--x=$(PET_NNODES)", "t.py"]}, []),
        ({"command": ["torchrun", "--x=$$(NOPE)", "t.py"]}, []),
        ({"command": ["torchrun", "--x=$(KUBERNETES_SERVICE_HOST)", "t.py"]}, []),
        ({"command": ["bash", "-c", "torchrun --x=$NOPE $(date +%s) $(nproc) t.py"]}, []),
        ({"command": ["/bin/bash", "-euxc"], "args": ["torchrun --x=${NOPE} t.py"]}, []),
        (
            {"command": ["bash", "-c", "torchrun --x=$(NOPE) t.py"]},
            [NO_VARIABLE],
        ),
        ({"command": ["torchrun", "t.py", "lr=${lr}", "d=${oc.env:HOME}"]}, []),
        ({"command": ["torchrun", "t.py", "--cost=5$"]}, []),
        ({"command": RUN, "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "$(A)"}]}, []),
        (
            {"command": RUN, "env": [{"name": "B", "value": "$(A)"}, {"name": "A", "value": "1"}]},
            ["$(A) stays as it is: A comes later in the list of variables"],
        ),
        ({"command": RUN, "env": [{"name": "A", "value": "/x:$PATH"}]}, ["no shell expands $PATH here"]),
    ],
)
def test_references(trainer, messages):
    assert told(compiled(trainer={"numNodes": 2, **trainer}), "TF630") == messages


def test_references_may_come_from_elsewhere():
    node = {"envFrom": [{"configMapRef": {"name": "more"}}]}
    assert told(compiled(trainer={"command": ["torchrun", "--x=$(NOPE)"]}, node=node), "TF630") == []


@pytest.mark.parametrize(
    ("env", "nodes", "number"),
    [
        ({"PET_STANDALONE": "1"}, 2, 1),
        ({"PET_STANDALONE": "0"}, 2, 0),
        ({"PET_STANDALONE": "1"}, 1, 0),
        ({"PET_RDZV_ENDPOINT": "other-host:29400"}, 2, 1),
        ({"PET_RDZV_ENDPOINT": "llm-node-0-0.llm:29400", "PET_RDZV_BACKEND": "c10d"}, 2, 0),
        ({"PET_RDZV_BACKEND": "c10d"}, 2, 1),
        ({"PET_RDZV_BACKEND": "static"}, 2, 0),
        ({"PET_LOG_DIR": "/logs"}, 2, 0),
    ],
)
def test_variables_that_are_flags_of_torchrun(env, nodes, number):
    variables = [{"name": name, "value": value} for name, value in env.items()]
    trainer = {"numNodes": nodes, "command": RUN, "env": variables}
    assert len(told(compiled(trainer=trainer), "TF631")) == number


@pytest.mark.parametrize(
    ("trainer", "ml", "node", "number"),
    [
        ({"numNodes": 2, "command": ["python", "t.py"]}, {"torch": {}}, {}, 1),
        ({"numNodes": 2, "command": ["/opt/venv/bin/python3.12", "-m", "t"]}, {"torch": {}}, {}, 1),
        ({"numNodes": 1, "command": ["python", "t.py"]}, {"torch": {}}, {"resources": gpus(2)}, 1),
        ({"numNodes": 1, "command": ["python", "t.py"]}, {"torch": {}}, {"resources": gpus(1)}, 0),
        ({"numNodes": 2, "command": ["python", "-m", "torch.distributed.run", "t.py"]}, {"torch": {}}, {}, 0),
        ({"numNodes": 2, "command": ["python", "-m", "accelerate", "launch"]}, {"torch": {}}, {}, 0),
        ({"numNodes": 2, "command": ["bash", "run.sh"]}, {"torch": {}}, {}, 0),
        ({"numNodes": 2, "command": ["python", "t.py"]}, {"jax": {}}, {}, 0),
        ({"command": ["torchrun t.py"]}, {"torch": {}}, {}, 1),
    ],
)
def test_nobody_starts_the_processes(trainer, ml, node, number):
    assert len(told(compiled(trainer=trainer, ml=ml, node=node), "TF634")) == number


@pytest.mark.parametrize(
    ("key", "value", "told_of"),
    [
        ("sidecar.istio.io/inject", "false", "the pods"),
        ("argocd.argoproj.io/sync-wave", "1", "the JobSet"),
        ("kustomize.toolkit.fluxcd.io/prune", "disabled", "the JobSet"),
        ("kai.scheduler/topology", "x", "the JobSet or the pods"),
        ("example.com/owner", "me", ""),
        ("kueue.x-k8s.io/queue-name", "team-a", ""),
    ],
)
def test_labels_of_a_trainjob_that_nobody_reads(key, value, told_of):
    from trainform import compile_stream

    job = f"""
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        metadata: {{name: llm, labels: {{"{key}": "{value}"}}}}
        spec: {{runtimeRef: {{name: torch-distributed}}, trainer: {{command: [torchrun, t.py]}}}}
    """
    (result,) = compile_stream(job)["jobs"]
    found = told(result, "TF632")
    assert [message.partition("reads it from ")[2] for message in found] == [told_of] * bool(told_of)


@pytest.mark.parametrize(
    ("image", "args", "env", "number"),
    [
        ("example/openmpi:5.0.8", [], {}, 1),
        ("example/cuda-openmpi5:1", [], {}, 1),
        ("example/openmpi:4.1.5", [], {}, 0),
        ("example/openmpi:50", [], {}, 0),
        ("example/train:1", ["--prtemca", "x", "y"], {}, 1),
        ("example/openmpi:5.0.8", [], {"PRTE_MCA_prte_default_hostfile": "/etc/mpi/hostfile"}, 0),
    ],
)
def test_open_mpi_5(image, args, env, number):
    import yaml

    from trainform import compile_stream

    def pods(command, variables):
        node = {"name": "node", "image": image, "command": command, "env": variables}
        return {"spec": {"template": {"spec": {"containers": [node]}}}}

    variables = [{"name": name, "value": value} for name, value in env.items()]
    launcher = pods(["mpirun", *args, "fit"], variables)
    launcher["metadata"] = {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}}
    jobs = [{"name": "node", "template": pods(["sshd"], [])}, {"name": "launcher", "template": launcher}]
    head = {"apiVersion": "trainer.kubeflow.org/v1alpha1"}
    spec = {"mlPolicy": {"numNodes": 2, "mpi": {}}, "template": {"spec": {"replicatedJobs": jobs}}}
    runtime = {**head, "kind": "ClusterTrainingRuntime", "metadata": {"name": "own"}, "spec": spec}
    job = {**head, "kind": "TrainJob", "metadata": {"name": "llm"}, "spec": {"runtimeRef": {"name": "own"}}}
    (result,) = compile_stream(yaml.safe_dump_all([runtime, job]))["jobs"]
    assert len(told(result, "TF636")) == number

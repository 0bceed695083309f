"""A call of `train()` becomes the JobSet that the TrainJob becomes which the SDK would have sent to a cluster."""

from __future__ import annotations

import json
import re
from typing import Any

import kubeflow.trainer
import kubeflow.trainer.options
import pytest
import yaml
from kubeflow.trainer import (
    BuiltinTrainer,
    CustomTrainer,
    CustomTrainerContainer,
    DataCacheInitializer,
    DataFormat,
    DataType,
    HuggingFaceDatasetInitializer,
    HuggingFaceModelInitializer,
    Initializer,
    LoraConfig,
    Loss,
    S3DatasetInitializer,
    S3ModelInitializer,
    TorchTuneConfig,
    TorchTuneInstructDataset,
)
from kubeflow.trainer.options import (
    ActiveDeadlineSeconds,
    Annotations,
    ContainerPatch,
    JobSetSpecPatch,
    JobSetTemplatePatch,
    JobSpecPatch,
    JobTemplatePatch,
    Labels,
    Name,
    PodSpecPatch,
    PodTemplatePatch,
    ReplicatedJobPatch,
    RuntimePatch,
    TrainerArgs,
    TrainerCommand,
    TrainingRuntimeSpecPatch,
)

from support.kubeflow_sdk import sent
from trainform import compile_stream
from trainform.cli.main import run
from trainform.sdk import GitBackend


def fit(lr: float = 0.1) -> None:
    print("training at", lr)


FUNCTION = CustomTrainer(func=fit, num_nodes=2, resources_per_node={"cpu": 2, "memory": "4Gi"})
CONTAINER = CustomTrainerContainer(image="example/train:1", num_nodes=2, resources_per_node={"gpu": 1}, env={"A": "b"})


def patch(spec: PodSpecPatch | None = None, step: str = "node", **metadata: Any) -> RuntimePatch:
    template = PodTemplatePatch(metadata=metadata.get("pods"), spec=spec)
    job = JobTemplatePatch(metadata=metadata.get("job"), spec=JobSpecPatch(template=template))
    jobs = JobSetSpecPatch(replicated_jobs=[ReplicatedJobPatch(name=step, template=job)])
    return RuntimePatch(TrainingRuntimeSpecPatch(JobSetTemplatePatch(metadata=metadata.get("jobset"), spec=jobs)))


CALLS: dict[str, dict[str, Any]] = {
    "a function": {"trainer": FUNCTION},
    "a function with everything": {
        "trainer": CustomTrainer(
            func=fit,
            func_args={"lr": 0.5},
            image="example/torch:1",
            packages_to_install=["transformers[torch]>=4", "a b"],
            pip_index_urls=["https://pip.example.com/simple", "https://other.example.com/simple"],
            num_nodes=3,
            resources_per_node={"CPU": "500m", "gpu": 2, "storage": "1Gi", "example.com/Device": 1},
            env={"NCCL_DEBUG": "INFO", "EMPTY": ""},
        )
    },
    **{
        f"a function for {name}": {"runtime": f"{name}-distributed", "trainer": FUNCTION}
        for name in ("jax", "xgboost", "deepspeed", "mlx")
    },
    "packages on MPI": {
        "runtime": "deepspeed-distributed",
        "trainer": CustomTrainer(func=fit, packages_to_install=["boto3"], num_nodes=2),
    },
    "a slice of a GPU": {"trainer": CustomTrainer(func=fit, resources_per_node={"mig-1g.5gb": 1})},
    "a container": {"trainer": CONTAINER},
    "nothing but a runtime": {"runtime": "torch-distributed"},
    "TorchTune": {
        "runtime": "torchtune-llama3.2-1b",
        "initializer": Initializer(
            dataset=HuggingFaceDatasetInitializer("hf://tatsu-lab/alpaca/data", ignore_patterns=["*.md", "*.txt"]),
            model=HuggingFaceModelInitializer("hf://meta-llama/Llama-3.2-1B-Instruct", access_token="from-a-secret"),
        ),
        "trainer": BuiltinTrainer(
            TorchTuneConfig(
                dtype=DataType.BF16,
                batch_size=10,
                epochs=3,
                loss=Loss.CEWithChunkedOutputLoss,
                num_nodes=1,
                peft_config=LoraConfig(apply_lora_to_mlp=True, lora_rank=8, lora_alpha=16, lora_dropout=0.1),
                dataset_preprocess_config=TorchTuneInstructDataset(
                    source=DataFormat.PARQUET, split="train[:95%]", train_on_input=True, column_map={"input": "in"}
                ),
                resources_per_node={"memory": "128G", "gpu": 1},
            )
        ),
    },
    "TorchTune as it comes": {"runtime": "torchtune-qwen2.5-1.5b", "trainer": BuiltinTrainer(TorchTuneConfig())},
    "S3": {
        "runtime": "torchtune-llama3.2-1b",
        "initializer": Initializer(
            dataset=S3DatasetInitializer("s3://data/alpaca", endpoint="https://s3.example.com", region="eu-1"),
            model=S3ModelInitializer("s3://models/llama", role_arn="arn:aws:iam::1:role/r"),
        ),
        "trainer": BuiltinTrainer(TorchTuneConfig(epochs=1)),
    },
    "a data cache": {
        "runtime": "torch-distributed-with-cache",
        "initializer": Initializer(
            dataset=DataCacheInitializer(
                "cache://schema/table", metadata_loc="s3://b/m.json", num_data_nodes=4, head_cpu="1", iam_role="arn:r"
            )
        ),
        "trainer": FUNCTION,
    },
    "labels": {"trainer": FUNCTION, "options": [Labels({"team": "nlp"})]},
    "annotations": {"trainer": FUNCTION, "options": [Annotations({"example.com/owner": "ana"})]},
    "a name": {"trainer": FUNCTION, "options": [Name("mine")]},
    "a command": {"trainer": CONTAINER, "options": [TrainerCommand(["torchrun", "train.py"])]},
    "arguments": {"trainer": CONTAINER, "options": [TrainerCommand(["python"]), TrainerArgs(["-m", "train", "$(A)"])]},
    "a deadline": {"trainer": FUNCTION, "options": [ActiveDeadlineSeconds(3600)]},
    "a pod template": {
        "trainer": FUNCTION,
        "options": [
            patch(
                PodSpecPatch(
                    service_account_name="trainer",
                    volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}],
                    image_pull_secrets=[{"name": "pull"}],
                    security_context={"runAsUser": 1000},
                    node_selector={"pool": "gpu"},
                    affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
                        {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}]}}},
                    tolerations=[{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}],
                    scheduling_gates=[{"name": "example.com/gate"}],
                    containers=[
                        ContainerPatch(
                            "node",
                            volume_mounts=[{"name": "data", "mountPath": "/data"}],
                            security_context={"readOnlyRootFilesystem": True},
                        )
                    ],
                ),
                jobset={"labels": {"a": "1"}}, job={"labels": {"b": "2"}}, pods={"annotations": {"c": "3"}},
            )
        ],
    },
    "a patch of another step": {
        "runtime": "torchtune-llama3.2-1b",
        "trainer": BuiltinTrainer(TorchTuneConfig()),
        "options": [patch(PodSpecPatch(node_selector={"pool": "cpu"}), step="model-initializer")],
    },
}  # fmt: skip


def compiled(text: str) -> dict[str, Any]:
    """The objects of the only job by kind, and no errors."""
    result = compile_stream(text)
    errors = [each for job in result["jobs"] for each in job["diagnostics"] if each["severity"] == "error"]
    assert (errors, result["diagnostics"]) == ([], [])
    (job,) = result["jobs"]
    return {f"{each['kind']}": each for each in job["objects"]}


def without_script(jobset: dict[str, Any], name: str) -> Any:
    """A JobSet called `job`, without the command of what trains, and without the mount of a script."""
    tree = json.loads(json.dumps(jobset).replace(name, "job"))
    for step in tree["spec"]["replicatedJobs"]:
        pod = step["template"]["spec"]["template"]["spec"]
        pod["volumes"] = [each for each in pod.get("volumes", []) if each["name"] != "trainform-script"]
        for container in pod["containers"]:
            mounts = container.get("volumeMounts", [])
            container["volumeMounts"] = [each for each in mounts if each["name"] != "trainform-script"]
            if container["name"] == "node":
                container.pop("command", None)
    return tree


def without_carriage(job: dict[str, Any]) -> dict[str, Any]:
    """A TrainJob without its name, its command, and the patch that mounts its script."""
    spec = job["spec"] | {"trainer": {**job["spec"].get("trainer", {}), "command": None}}
    spec["runtimePatches"] = [
        each for each in spec.get("runtimePatches", []) if each["manager"] != "trainform.dev/script"
    ]
    return job | {"metadata": job["metadata"] | {"name": ""}, "spec": spec}


@pytest.mark.parametrize("call", CALLS.values(), ids=[each.replace(" ", "-") for each in CALLS])
def test_the_trainjob_is_that_of_the_sdk(root, client, call):
    """So labels and annotations are there, of which the JobSet knows nothing."""
    job = next(yaml.safe_load_all((root / f"jobs/{client.train(**call)}.yaml").read_text()))
    assert without_carriage(job) == without_carriage(sent(**call))


def in_stream(root, name: str) -> str:
    """What a job file says, as a stream, which has no files: the ConfigMap in place of its generator."""
    job, *others = yaml.safe_load_all((root / f"jobs/{name}.yaml").read_text())
    for generator in others:
        ((key, path),) = (each.split("=") for each in generator.pop("files"))
        generator |= {"apiVersion": "v1", "kind": "ConfigMap", "data": {key: (root / "jobs" / path).read_text()}}
    return yaml.safe_dump_all([job, *others])


@pytest.mark.parametrize("call", CALLS.values(), ids=[each.replace(" ", "-") for each in CALLS])
def test_the_jobset_is_that_of_the_sdk(root, client, call):
    theirs = sent(**call)
    name = client.train(**call)
    ours = compiled(in_stream(root, name))
    expected = compiled(yaml.safe_dump(theirs))
    has_function = isinstance(call.get("trainer"), CustomTrainer)
    assert ours.keys() - expected.keys() == ({"ConfigMap"} if has_function and "ConfigMap" not in expected else set())
    found, wanted = ours["JobSet"], expected["JobSet"]
    if not has_function:
        assert json.loads(json.dumps(found).replace(name, "job")) == json.loads(
            json.dumps(wanted).replace(theirs["metadata"]["name"], "job")
        )
    assert without_script(found, name) == without_script(wanted, theirs["metadata"]["name"])


@pytest.mark.parametrize("call", CALLS.values(), ids=[each.replace(" ", "-") for each in CALLS])
def test_it_validates_and_renders_in_a_new_repository(root, client, call, capfd):
    client.train(**call)
    assert run(["validate"]) == 0
    assert "error" not in capfd.readouterr().out
    assert run(["render", "--quiet"]) == 0


def test_the_table_has_every_option_of_the_installed_version():
    """A new one of the SDK must be tried here first."""
    used = repr(CALLS)
    options = {name for name in kubeflow.trainer.options.__all__ if f"{name}(" not in used}
    kinds = [name for name in kubeflow.trainer.__all__ if name.endswith(("Initializer", "Trainer"))]
    trainers = {name for name in kinds if f"{name}(" not in used} - {"RuntimeTrainer"}
    assert options | trainers == set()


def packaged(call: dict[str, Any]) -> str:
    """The shell script of a command, up to what it runs."""
    (script,) = [each for each in call["spec"]["trainer"]["command"] if "pip install" in each]
    return re.split(r"\n\n(?=read |torchrun |python )", re.sub(r"\n{2,}", "\n\n", script.strip()))[0]


@pytest.mark.parametrize("kind", ["a function with everything", "packages on MPI"])
def test_packages_are_installed_by_the_text_of_the_sdk(root, client, kind):
    name = client.train(**CALLS[kind])
    job = next(yaml.safe_load_all((root / f"jobs/{name}.yaml").read_text()))
    assert packaged(job) == packaged(sent(**CALLS[kind]))


@pytest.mark.parametrize(
    ("runtime", "command"),
    [
        ("torch-distributed", ["torchrun", "/opt/trainform/script.py"]),
        ("jax-distributed", ["python", "/opt/trainform/script.py"]),
        ("deepspeed-distributed", ["mpirun", "--hostfile", "/etc/mpi/hostfile", "python", "/opt/trainform/script.py"]),
    ],
)
def test_the_command_is_that_of_the_sdk_without_a_shell(root, client, runtime, command):
    name = client.train(runtime=runtime, trainer=FUNCTION)
    job = next(yaml.safe_load_all((root / f"jobs/{name}.yaml").read_text()))
    assert job["spec"]["trainer"]["command"] == command


def test_the_backend_is_a_whole_backend_of_the_sdk():
    assert GitBackend.__abstractmethods__ == frozenset()

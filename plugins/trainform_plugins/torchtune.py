"""TorchTune: `tune run` with the recipe and configuration for the model, nodes and devices."""

from __future__ import annotations

from typing import NamedTuple

from trainform.plugin import (
    NODE_CONTAINER,
    TRAINER_PORT,
    Path,
    Plan,
    Plugin,
    count_per_node,
    gpu_count,
    trainer_host,
)

ENTRYPOINT = ["tune", "run"]
LLAMA_70B = "llama3_3/70B"
QWEN = "qwen2_5/1.5B"
QLORA_ON_ONE_DEVICE = ("llama3_2/1B", "llama3_2/3B")
MODELS = (*QLORA_ON_ONE_DEVICE, LLAMA_70B, QWEN)
IMMUTABLE = ("output_dir", "tokenizer.path", "tokenizer.merges_file", "checkpointer.checkpoint_dir")
"""Settings tied to the runtime's mounts: kept from its command, rejected in the job's arguments."""


class Recipe(NamedTuple):
    """What `tune run` starts, and the suffix of its configuration. `rendezvous`: several processes must find each
    other."""

    name: str
    suffix: str
    rendezvous: bool = True

    def __str__(self) -> str:
        return self.name if self.rendezvous else f"{self.name} without rendezvous"


class BrokenRule(NamedTuple):
    """A rule that a job breaks."""

    path: Path
    message: str
    hint: str


class TorchTune(Plugin):
    """Completes the command of jobs whose `trainer.command` is exactly `[tune, run]`. Source: kubeflow/trainer
    `pkg/runtime/framework/plugins/torch/torchtune.go`."""

    name = "torchtune"

    def applies(self, plan: Plan) -> bool:
        return plan.framework == "torch" and plan.trainer.command == ENTRYPOINT

    def validate(self, plan: Plan) -> None:
        problems = _problems(plan, _effective_nodes(plan))
        for path, message, hint in problems:
            plan.report("TF311", message, hint=hint, path=path)
        if _problems(plan, plan.num_nodes or 1) != problems:
            message = "the controller would check this job as a single-node job and ignore the runtime's node count"
            plan.deviates("D20", message, path=("spec", "trainer"))

    def enforce_ml_policy(self, plan: Plan) -> None:
        pods, node = plan.trainer_pod_set, plan.trainer_container
        if pods is None or node is None:
            return

        def choose(gpus: int, cpus: int) -> Recipe:
            processes = plan.num_proc_per_node or (None if gpus else max(cpus, 1))
            return _recipe(plan, pods.count, processes, gpus)

        recipe = count_per_node(plan, node.get("resources"), choose, "TorchTune's recipe")
        command = [*ENTRYPOINT]
        if recipe.rendezvous:
            command.append(f"--rdzv_endpoint={trainer_host(plan)}:{TRAINER_PORT}")
        command += [recipe.name, "--config", f"{_model(plan)}{recipe.suffix}", *_runtime_settings(plan)]
        plan.trainer.command = command


def _problems(plan: Plan, nodes: int) -> list[BrokenRule]:
    """The job's problems if it runs on `nodes` nodes."""
    model = _model(plan)
    return [*_model_problems(model, nodes), *_lora_problems(plan, model, nodes), *_setting_problems(plan)]


def _model_problems(model: str, nodes: int) -> list[BrokenRule]:
    problems = []
    if model not in MODELS:
        message = f"TorchTune has no model {model}" if model else "the runtime's name does not contain a model"
        hint = "runtimes are named torchtune-<model>-<size>, such as torchtune-llama3.2-1b; models: "
        problems.append(BrokenRule(("spec", "runtimeRef", "name"), message, hint + ", ".join(MODELS)))
    if nodes > 1 and model != LLAMA_70B:
        message = f"{model or 'this model'} runs on one node, not on {nodes}"
        problems.append(BrokenRule(("spec", "trainer", "numNodes"), message, "write numNodes: 1"))
    return problems


def _lora_problems(plan: Plan, model: str, nodes: int) -> list[BrokenRule]:
    problems = []
    gpus = gpu_count((plan.trainer_container or {}).get("resources"))
    if "_qlora" in (suffix := _recipe(plan, nodes, plan.num_proc_per_node, gpus).suffix):
        if model == QWEN:
            path: Path = ("spec", "runtimeRef", "name")
            problems.append(BrokenRule(path, f"QLoRA is not available for {model}", "remove model.quantize_base"))
        if model in QLORA_ON_ONE_DEVICE and "_single_device" not in suffix:
            message = f"QLoRA for {model} runs on one device"
            trainer: Path = ("spec", "trainer")
            problems.append(BrokenRule((*trainer, "numProcPerNode"), message, "write numProcPerNode: 1"))
            hint = "request one GPU, such as limits: {nvidia.com/gpu: 1}"
            problems.append(BrokenRule((*trainer, "resourcesPerNode"), message, hint))
    if nodes > 1 and (_is_lora(plan) or _is_qlora(plan)):
        message = f"LoRA runs on one node, not on {nodes}: TorchTune would train the full model instead"
        hint = "write numNodes: 1, or remove the LoRA arguments"
        problems.append(BrokenRule(("spec", "trainer", "numNodes"), message, hint))
    return problems


def _setting_problems(plan: Plan) -> list[BrokenRule]:
    return [
        BrokenRule(
            ("spec", "trainer", "args", index),
            f"{_key(argument)} is set by the runtime, which mounts that path",
            "remove it; for other paths, use another runtime",
        )
        for index, argument in enumerate(plan.trainer.args or ())
        if _key(argument) in IMMUTABLE
    ]


def _recipe(plan: Plan, nodes: int, processes: int | None, gpus: int) -> Recipe:
    """The recipe for these devices; `processes` is None if torchrun counts them (`auto`)."""
    if nodes > 1:
        return Recipe("full_finetune_distributed", "_full_multinode")
    single = processes == 1 or gpus == 1
    devices, ending = ("single_device", "_single_device") if single else ("distributed", "")
    rendezvous = (processes or gpus) > 1
    if _is_qlora(plan):
        return Recipe(f"lora_finetune_{devices}", f"_qlora{ending}", rendezvous)
    if _is_lora(plan):
        return Recipe(f"lora_finetune_{devices}", f"_lora{ending}", rendezvous)
    return Recipe(f"full_finetune_{devices}", f"_full{ending}", rendezvous)


def _is_lora(plan: Plan) -> bool:
    return any("model.lora_attn_modules" in argument for argument in plan.trainer.args or ())


def _is_qlora(plan: Plan) -> bool:
    return _is_on(plan, "model.quantize_base") and not _is_on(plan, "model.use_dora")


def _is_on(plan: Plan, setting: str) -> bool:
    pairs = (argument.partition("=") for argument in plan.trainer.args or ())
    return any(key.strip() == setting and value.strip().lower() == "true" for key, _, value in pairs)


def _model(plan: Plan) -> str:
    """`llama3_2/1B` for a runtime called `torchtune-llama3.2-1b`, else the empty string."""
    parts = plan.job.spec.runtime_ref.name.split("-")
    return f"{parts[1].replace('.', '_')}/{parts[2].upper()}" if len(parts) == 3 else ""


def _effective_nodes(plan: Plan) -> int:
    pods = plan.trainer_pod_set
    if plan.num_nodes is not None:
        return plan.num_nodes
    return pods.count if pods else 1


def _runtime_settings(plan: Plan) -> list[str]:
    nodes = (pods.container(NODE_CONTAINER) for pods in plan.pod_sets if pods.step == "trainer")
    words = (word for node in nodes if node for word in node.get("command") or ())
    return [word for word in words if _key(word) in IMMUTABLE]


def _key(argument: str) -> str:
    return argument.partition("=")[0]

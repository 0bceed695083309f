"""torchrun understands what we render: nodes, processes, ranks and rendezvous, by torch's own word."""

from __future__ import annotations

import pytest

from support.frameworks import require
from support.torch_pods import JOB, TorchPod, corpus_pods, golden_pods, shipped_pods, torch_pods
from support.torchrun import WITHOUT_NUMPY, Launch, Torchrun
from trainform.source import load

require("torch")

pytestmark = WITHOUT_NUMPY

LAUNCHERS = (["torchrun"], *([python, "-m", "torch.distributed.run"] for python in ("python", "python3")))

PODS = [pod for pod in (*golden_pods(), *shipped_pods(), *corpus_pods()) if pod.words()[:2] != ["tune", "run"]]


@pytest.mark.parametrize("pod", [pytest.param(pod, id=pod.id) for pod in PODS if "TF631" not in pod.codes])
def test_the_variables_make_the_rendezvous_of_every_node(pod: TorchPod, torchrun: Torchrun) -> None:
    for index in pod.indexes:
        launch = torchrun.launch(pod.variables(index), ["train.py"], pod.devices)
        assert launch == Launch(
            min_nodes=pod.nodes,
            max_nodes=pod.nodes,
            processes=pod.processes,
            rank=index,
            endpoint=pod.endpoint,
            script="train.py",
            arguments=[],
        )


def torchrun_words(pod: TorchPod, index: int = 0) -> list[str]:
    """What a command hands to torchrun; empty where a script or the image would call it."""
    words = pod.words(index)
    for launcher in LAUNCHERS:
        if words[: len(launcher)] == launcher:
            return words[len(launcher) :]
    return []


def flags_change_the_rendezvous(pod: TorchPod, torchrun: Torchrun) -> bool:
    """Whether, on any node, torchrun's flags undo what the variables say."""
    for index in pod.indexes:
        launch = torchrun.launch(pod.variables(index), torchrun_words(pod, index), pod.devices)
        if launch[:3] != (pod.nodes, pod.nodes, pod.processes) or launch.rank not in (index, None):
            return True
        if launch.endpoint not in pod.meeting_places:
            return True
    return False


READABLE = [pod for pod in PODS if torchrun_words(pod) and "TF630" not in pod.codes]
"""TF630: torchrun would stop at the text of a reference that nothing replaces."""


@pytest.mark.parametrize("pod", [pytest.param(pod, id=pod.id) for pod in READABLE])
def test_the_command_leaves_the_rendezvous_alone_or_is_warned_of(pod: TorchPod, torchrun: Torchrun) -> None:
    """TF605 tells of flags, TF631 of variables, and TF603 of a count that a flag may mend."""
    changed = flags_change_the_rendezvous(pod, torchrun)
    assert not changed or {"TF603", "TF605", "TF631"}.intersection(pod.codes)
    assert changed or "TF605" not in pod.codes


FLAGS = [
    "--nnodes=1",
    "--nnodes=3",
    "--nnodes=1:3",
    "--nproc-per-node=4",
    "--nproc_per_node=8",
    "--nproc-per-node=auto",
    "--node-rank=0",
    "--node-rank=$(PET_NODE_RANK)",
    "--master-addr=localhost",
    "--master-addr=fine-tune-node-0-0.fine-tune",
    "--master-addr=$(PET_MASTER_ADDR)",
    "--master-port=29501",
    "--rdzv-endpoint=localhost:29500",
    "--rdzv_endpoint=fine-tune-node-0-0.fine-tune:29500",
    "--rdzv-backend=c10d, --rdzv-endpoint=fine-tune-node-0-0.fine-tune:29500",
    "--rdzv-backend=c10d, --rdzv-endpoint=localhost:29500",
    "--max-restarts=3",
]


@pytest.mark.parametrize("nodes", [1, 3])
@pytest.mark.parametrize("flags", FLAGS)
def test_torch_and_the_lint_agree_on_flags(flags: str, nodes: int, torchrun: Torchrun) -> None:
    trainer = f"{{numNodes: {nodes}, numProcPerNode: 4, command: [torchrun, {flags}, train.py]}}"
    text = JOB.format(runtime="torch-distributed", trainer=trainer)
    (pod,) = torch_pods(flags, load(text, "job.yaml"))
    assert flags_change_the_rendezvous(pod, torchrun) == ("TF605" in pod.codes)


def test_every_trainer_declares_the_port_of_its_rendezvous() -> None:
    trainers = [pod for pod in PODS if pod.container["name"] == "node"]
    assert trainers
    for pod in trainers:
        ports = [port["containerPort"] for port in pod.container["ports"]]
        assert int(pod.endpoint.split(":")[1]) in ports, pod.id


WRONG = [
    ({"PET_NNODES": "two"}, "invalid literal for int"),
    ({"PET_NNODES": "0"}, "min_nodes must be > 0"),
    ({"PET_NPROC_PER_NODE": "some"}, "Unsupported nproc_per_node value"),
]


@pytest.mark.parametrize(("variables", "complaint"), WRONG)
def test_torchrun_refuses_variables_that_we_never_render(
    variables: dict[str, str], complaint: str, torchrun: Torchrun
) -> None:
    with pytest.raises((ValueError, AssertionError), match=complaint):
        torchrun.launch(variables, ["train.py"])

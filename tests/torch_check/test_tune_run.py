"""`tune run` understands what we render: torchrun's options, a recipe, a configuration, settings.

`tune run` takes torchrun's argument parser, so that much of it is asked for every command; the rest is what TorchTune
0.6.1 documents and does. Then its own parser and its own list of recipes are asked.
"""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from support.frameworks import require
from support.torch_pods import TorchPod, corpus_pods, golden_pods, shipped_pods
from support.torchrun import WITHOUT_NUMPY, Launch, Torchrun

require("torch")

pytestmark = WITHOUT_NUMPY

TUNE = ["tune", "run"]

CONFIGS = {
    "full_finetune_single_device": [
        "llama3_2/1B_full_single_device",
        "llama3_2/3B_full_single_device",
        "qwen2_5/1.5B_full_single_device",
    ],
    "full_finetune_distributed": [
        "llama3_2/1B_full",
        "llama3_2/3B_full",
        "llama3_3/70B_full",
        "llama3_3/70B_full_multinode",
        "qwen2_5/1.5B_full",
    ],
    "lora_finetune_single_device": [
        "llama3_2/1B_lora_single_device",
        "llama3_2/1B_qlora_single_device",
        "llama3_2/3B_lora_single_device",
        "llama3_2/3B_qlora_single_device",
        "qwen2_5/1.5B_lora_single_device",
    ],
    "lora_finetune_distributed": [
        "llama3_2/1B_lora",
        "llama3_2/3B_lora",
        "llama3_3/70B_lora",
        "llama3_3/70B_qlora",
        "qwen2_5/1.5B_lora",
    ],
}
"""The recipes that a rendered command may name, each with its configurations of the supported models.

What runs on several devices ends in `_distributed`. Source: TorchTune 0.6.1, `torchtune/_recipe_registry.py`.
"""


class TuneRun(NamedTuple):
    """`tune run [TORCHRUN-OPTIONS] RECIPE --config CONFIG [KEY=VALUE ...]`"""

    launch: Launch
    with_options: bool

    @property
    def recipe(self) -> str:
        return self.launch.script

    @property
    def config(self) -> str:
        flag, config, *_ = [*self.launch.arguments, "", ""]
        return config if flag == "--config" else ""

    @property
    def settings(self) -> list[str]:
        return self.launch.arguments[2:]

    def refusals(self) -> Iterator[str]:
        """Why TorchTune would not run this."""
        if self.recipe not in CONFIGS:
            yield f"no recipe {self.recipe}"
        elif self.config not in CONFIGS[self.recipe]:
            yield f"no configuration {self.config or 'given'}"
        distributed = self.recipe.endswith("_distributed")
        if self.with_options and not distributed:  # tune run takes any option for a wish to use torchrun
            yield f"{self.recipe} runs without torchrun"
        if distributed and not self.with_options:
            yield f"{self.recipe} needs torchrun"
        for setting in self.settings:
            if not re.fullmatch(r"[a-z]\w*(\.\w+)*=.+", setting):
                yield f"no setting: {setting}"


def tune_run(torchrun: Torchrun, variables: dict[str, str], words: list[str], devices: int = 0) -> TuneRun:
    launch = torchrun.launch(variables, words, devices)
    return TuneRun(launch, with_options=len(words) > len(launch.arguments) + 1)


def is_our_command(pod: TorchPod) -> bool:
    """Not the command that a TrainJob writes out itself: such a job brings its own recipe."""
    own = pod.train_job["spec"].get("trainer", {}).get("command")
    return pod.words()[:2] == TUNE and own in (None, TUNE)


PODS = [pod for pod in (*golden_pods(), *shipped_pods(), *corpus_pods()) if is_our_command(pod)]

REFUSED = {
    "torchtune/025": ["no configuration llama3_3/70B_full_single_device"],
    "torchtune/035": [
        "no configuration llama3_3/70B_full_single_device",
        "full_finetune_single_device runs without torchrun",
    ],
}
"""What the controller renders, and we after it, although TorchTune refuses it."""

each_pod = pytest.mark.parametrize("pod", [pytest.param(pod, id=pod.id) for pod in PODS])


@each_pod
def test_recipe_configuration_and_settings_are_torchtunes(pod: TorchPod, torchrun: Torchrun) -> None:
    run = tune_run(torchrun, pod.variables(0), pod.words()[2:])
    assert list(run.refusals()) == REFUSED.get(pod.id.partition(":")[0], [])


@each_pod
def test_every_node_finds_the_first_or_is_warned_of(pod: TorchPod, torchrun: Torchrun) -> None:
    for index in pod.indexes:
        run = tune_run(torchrun, pod.variables(index), pod.words()[2:], pod.devices)
        assert run.launch[:4] == (pod.nodes, pod.nodes, pod.processes, index)
        lost = run.with_options and run.launch.endpoint not in pod.meeting_places
        assert lost == ("TF605" in pod.codes)


ENDPOINT = "--rdzv_endpoint=a-node-0-0.a:29500"
WRONG = [
    ("full_finetune --config llama3_2/1B_full", "no recipe full_finetune"),
    (f"{ENDPOINT} full_finetune_distributed llama3_2/1B_full", "no configuration given"),
    (f"{ENDPOINT} full_finetune_distributed --config llama3_2/1B_lora", "no configuration llama3_2/1B_lora"),
    ("full_finetune_distributed --config llama3_2/1B_full", "full_finetune_distributed needs torchrun"),
    (
        f"{ENDPOINT} lora_finetune_single_device --config llama3_2/1B_lora_single_device",
        "lora_finetune_single_device runs without torchrun",
    ),
    (f"{ENDPOINT} full_finetune_distributed --config llama3_2/1B_full dtype", "no setting: dtype"),
]


@pytest.mark.parametrize(("command", "refusal"), WRONG)
def test_a_wrong_command_is_refused(command: str, refusal: str, torchrun: Torchrun) -> None:
    assert list(tune_run(torchrun, {}, command.split()).refusals()) == [refusal]


def test_the_endpoint_in_the_command_beats_the_variables(torchrun: Torchrun) -> None:
    variables = {"PET_MASTER_ADDR": "elsewhere", "PET_MASTER_PORT": "1"}
    run = tune_run(torchrun, variables, [ENDPOINT, "lora_finetune_distributed"])
    assert run.launch.endpoint == "a-node-0-0.a:29500"


@pytest.fixture(scope="module")
def torchtune() -> Iterator[Any]:
    """The module of `tune run`, without the models: importing those takes a torch of TorchTune's own time."""
    require("torchtune")
    spec = find_spec("torchtune")
    assert spec is not None
    package = ModuleType("torchtune")
    package.__path__ = spec.submodule_search_locations or []
    package.__file__ = spec.origin or ""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "torchtune", package)
        yield import_module("torchtune._cli.run")


@each_pod
def test_torchtunes_own_parser_finds_recipe_and_configuration(pod: TorchPod, torchtune: Any) -> None:
    parser = ArgumentParser()
    command = torchtune.Run(parser.add_subparsers())
    args = parser.parse_args(pod.words()[1:])
    recipe = command._get_recipe(args.recipe)
    config = command._get_config(args.recipe_args[1], recipe)
    refused = REFUSED.get(pod.id.partition(":")[0], [])
    assert (config is None) == any(each.startswith("no configuration") for each in refused)
    assert recipe.supports_distributed == args.recipe.endswith("_distributed")

"""torch's own launcher, asked what it would start. It starts nothing."""

from __future__ import annotations

import os
from importlib import import_module
from types import SimpleNamespace
from typing import NamedTuple

import pytest

WITHOUT_NUMPY = pytest.mark.filterwarnings("ignore:Failed to initialize NumPy:UserWarning")
"""torch warns where numpy is missing, which neither its launcher nor we need."""


class Launch(NamedTuple):
    """What torchrun makes of variables and words: the rendezvous of one node, and what it runs there.

    `rank` is None where the rendezvous deals the ranks out itself (`--rdzv-backend=c10d`).
    """

    min_nodes: int
    max_nodes: int
    processes: int
    rank: int | None
    endpoint: str
    script: str
    arguments: list[str]


class Torchrun:
    """`torch.distributed.run` on a machine of our choice.

    Imports torch when made, which takes more than a second.
    """

    def __init__(self) -> None:
        self.run = import_module("torch.distributed.run")

    def launch(self, variables: dict[str, str], words: list[str], devices: int = 0) -> Launch:
        """What `torchrun WORDS` would start under these variables, on a machine with so many GPUs."""
        with pytest.MonkeyPatch.context() as patch:
            self._pretend(patch, variables, devices)
            args = self.run.parse_args(words)
            config, _, _ = self.run.config_from_args(args)
        return Launch(
            config.min_nodes,
            config.max_nodes,
            config.nproc_per_node,
            config.rdzv_configs.get("rank"),
            config.rdzv_endpoint,
            args.training_script,
            args.training_script_args,
        )

    def _pretend(self, patch: pytest.MonkeyPatch, variables: dict[str, str], devices: int) -> None:
        for name in [name for name in os.environ if name.startswith("PET_")]:
            patch.delenv(name)
        patch.setenv("PET_LOG_DIR", os.devnull)  # torchrun would make a folder, and leave it
        patch.setenv("OMP_NUM_THREADS", "1")  # torchrun would set it, for good
        for name, value in variables.items():
            patch.setenv(name, value)
        accelerator = self.run.torch.accelerator
        patch.setattr(accelerator, "is_available", lambda: True)
        patch.setattr(accelerator, "device_count", lambda: devices)
        patch.setattr(accelerator, "current_accelerator", lambda: SimpleNamespace(type="cuda"))

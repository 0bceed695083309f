"""The SDK's client, which writes files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from kubeflow import trainer

from trainform.sdk.backend import GitBackend

if TYPE_CHECKING:
    Config = trainer.KubernetesBackendConfig | trainer.LocalProcessBackendConfig | trainer.ContainerBackendConfig


class TrainerClient(trainer.TrainerClient):
    """The SDK's TrainerClient for a repository of trainform. `root` is a folder of it. `env` is the Environment whose
    jobs these are; it may be left out if there is only one. With a KubernetesBackendConfig, status, logs and events
    come from that cluster; jobs are files in any case. The SDK's other configurations run jobs on this machine, as they
    always do. Raises ValueError if there is no such Environment."""

    def __init__(
        self, backend_config: Config | None = None, *, root: str | os.PathLike[str] = ".", env: str | None = None
    ) -> None:
        if backend_config is None or isinstance(backend_config, trainer.KubernetesBackendConfig):
            self.backend = GitBackend(root, env, backend_config)
        else:
            super().__init__(backend_config)

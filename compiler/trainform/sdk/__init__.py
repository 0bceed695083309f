"""The Kubeflow SDK with git as its backend: `from trainform.sdk import TrainerClient`, and `train()` writes a TrainJob
file. Everything else that `kubeflow.trainer` exports can be imported from here, too."""

from __future__ import annotations

from typing import Any

try:
    import kubeflow.trainer as _kubeflow
except ImportError as error:
    if (error.name or "").partition(".")[0] != "kubeflow":
        raise
    message = 'trainform.sdk needs the Kubeflow SDK, version 0.5 or later: pip install "trainform[sdk]"'
    raise ImportError(message, name=error.name) from error

from trainform.sdk.backend import GitBackend as GitBackend
from trainform.sdk.client import TrainerClient as TrainerClient

__all__ = [*_kubeflow.__all__, "GitBackend"]


def __getattr__(name: str) -> Any:
    if name not in _kubeflow.__all__:
        raise AttributeError(f"module 'trainform.sdk' has no attribute {name!r}")
    return getattr(_kubeflow, name)

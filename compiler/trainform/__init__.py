"""trainform: Kubeflow TrainJobs in git, compiled to the manifests that a cluster runs."""

from __future__ import annotations

TYPE_CHECKING = False  # true to type checkers; importing `typing` would double the time of `--version`
if TYPE_CHECKING:
    from typing import Any

    from trainform.core.plugin import Plugin as Plugin
    from trainform.stream import compile_stream as compile_stream

__version__ = "0.1.0"

_HOMES = {"Plugin": "trainform.core.plugin", "compile_stream": "trainform.stream"}
"""Home modules of the public names. They are imported on first use, so that `import trainform` costs nothing."""


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module 'trainform' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)

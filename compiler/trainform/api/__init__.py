"""Typed models of Trainer API documents, with every API rule that no plugin owns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trainform.api.reader import Read, read
from trainform.api.runtime import Runtime
from trainform.api.runtime_rules import deprecation
from trainform.api.trainjob import TrainJob

if TYPE_CHECKING:
    from trainform.api.environment import DEFAULT_ENVIRONMENT, Environment

__all__ = ["DEFAULT_ENVIRONMENT", "Environment", "Read", "Runtime", "TrainJob", "deprecation", "read"]


def __getattr__(name: str) -> Any:
    """Imports the Environment models on first use: most runs have none."""
    if name in ("DEFAULT_ENVIRONMENT", "Environment"):
        from trainform.api import environment

        return getattr(environment, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

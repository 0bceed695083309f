"""All that a plugin may use: the one module that plugins import."""

from __future__ import annotations

from trainform.api.runtime import MpiPolicy
from trainform.core.blame import blame
from trainform.core.gang import Gang, gang_demand
from trainform.core.plan import NODE_CONTAINER, TRAINER_STEP, Plan, Trainer
from trainform.core.plugin import STAGES, Plugin
from trainform.core.pod_set import STEP_LABEL, PodSet
from trainform.core.resources import gpu_count
from trainform.core.secrets import SecretNeed
from trainform.core.trainer import (
    COMPLETION_INDEX,
    TRAINER_PORT,
    count_per_node,
    env_var,
    merge_into,
    no_reserved_variables,
    set_nodes,
    set_trainer_env,
    trainer_host,
    without_trainer,
)
from trainform.core.upsert import upsert
from trainform.diagnostics import Diagnostic, Path, Place
from trainform.diagnostics.suggest import did_you_mean
from trainform.k8s.tree import Tree

__all__ = [
    "COMPLETION_INDEX",
    "NODE_CONTAINER",
    "STAGES",
    "STEP_LABEL",
    "TRAINER_PORT",
    "TRAINER_STEP",
    "Diagnostic",
    "Gang",
    "MpiPolicy",
    "Path",
    "Place",
    "Plan",
    "Plugin",
    "PodSet",
    "SecretNeed",
    "Trainer",
    "Tree",
    "blame",
    "count_per_node",
    "did_you_mean",
    "env_var",
    "gang_demand",
    "gpu_count",
    "merge_into",
    "no_reserved_variables",
    "set_nodes",
    "set_trainer_env",
    "trainer_host",
    "upsert",
    "without_trainer",
]

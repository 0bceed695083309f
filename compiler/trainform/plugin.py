"""All that a plugin may use: the one module that plugins import."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainform.api.runtime import MpiPolicy
from trainform.core.gang import GANG_QUEUE, Gang
from trainform.core.jobset_view import NODE_CONTAINER, STEP_LABEL, TRAINER_STEP, JobSetView, ReplicatedJob
from trainform.core.plan import Plan, Trainer
from trainform.core.plugin import STAGES, Plugin
from trainform.core.pod_set import PodSet, upsert
from trainform.core.provenance import Source, blame
from trainform.core.resources import gpu_count
from trainform.core.schedulers import (
    SCHEDULER_NAMES,
    check_schedulers,
    gang_demand,
    send_to_scheduler,
    tell_undeclared,
    tell_waiting_steps,
)
from trainform.core.secrets import SecretNeed, is_in_the_clear
from trainform.core.trainer import (
    COMPLETION_INDEX,
    NUM_NODES,
    TRAINER_PORT,
    count_per_node,
    env_var,
    merge_into,
    no_reserved_variables,
    set_nodes,
    set_trainer_env,
    set_trainer_fields,
    trainer_host,
    trainer_resources,
    without_trainer,
)
from trainform.diagnostics import Diagnostic, Path, Place
from trainform.diagnostics.suggest import did_you_mean
from trainform.k8s.admission import admitted_pod_spec
from trainform.k8s.labels import selector_keys, selector_matches
from trainform.k8s.pod_requests import format_requests, pod_requests
from trainform.k8s.tree import Tree, object_name, table, tables, text, texts, value_at

if TYPE_CHECKING:
    # Models of the Environment, for annotations: most runs have none, and importing them takes a while.
    from trainform.api.scheduling import Kueue as Kueue
    from trainform.api.scheduling import Topology as Topology

__all__ = [
    "COMPLETION_INDEX",
    "GANG_QUEUE",
    "NODE_CONTAINER",
    "NUM_NODES",
    "SCHEDULER_NAMES",
    "STAGES",
    "STEP_LABEL",
    "TRAINER_PORT",
    "TRAINER_STEP",
    "Diagnostic",
    "Gang",
    "JobSetView",
    "MpiPolicy",
    "Path",
    "Place",
    "Plan",
    "Plugin",
    "PodSet",
    "ReplicatedJob",
    "SecretNeed",
    "Source",
    "Trainer",
    "Tree",
    "admitted_pod_spec",
    "blame",
    "check_schedulers",
    "count_per_node",
    "did_you_mean",
    "env_var",
    "format_requests",
    "gang_demand",
    "gpu_count",
    "is_in_the_clear",
    "merge_into",
    "no_reserved_variables",
    "object_name",
    "pod_requests",
    "selector_keys",
    "selector_matches",
    "send_to_scheduler",
    "set_nodes",
    "set_trainer_env",
    "set_trainer_fields",
    "table",
    "tables",
    "tell_undeclared",
    "tell_waiting_steps",
    "text",
    "texts",
    "trainer_host",
    "trainer_resources",
    "upsert",
    "value_at",
    "without_trainer",
]

"""The plugin API: the only trainform module that plugins import."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainform.api.base import Model as _Model
from trainform.api.runtime import MpiPolicy as MpiPolicy
from trainform.core.gang import GANG_QUEUE as GANG_QUEUE
from trainform.core.gang import Gang as Gang
from trainform.core.gang import Stage as Stage
from trainform.core.gang import first_that_waits as first_that_waits
from trainform.core.gang import starts_in_order as starts_in_order
from trainform.core.gitops import SYNC_OPTION_VALUES as SYNC_OPTION_VALUES
from trainform.core.gitops import SYNC_OPTIONS as SYNC_OPTIONS
from trainform.core.gitops import SYNC_WAVE as SYNC_WAVE
from trainform.core.gitops import is_sync_option as is_sync_option
from trainform.core.gitops import sync_options as sync_options
from trainform.core.gitops import sync_wave as sync_wave
from trainform.core.given.model import Given as Given
from trainform.core.given.model import GivenHost as GivenHost
from trainform.core.given.model import GivenPort as GivenPort
from trainform.core.given.model import GivenVariable as GivenVariable
from trainform.core.given.model import Listeners as Listeners
from trainform.core.jobset_view import NODE_CONTAINER as NODE_CONTAINER
from trainform.core.jobset_view import STEP_LABEL as STEP_LABEL
from trainform.core.jobset_view import TRAINER_STEP as TRAINER_STEP
from trainform.core.jobset_view import JobSetView as JobSetView
from trainform.core.jobset_view import ReplicatedJob as ReplicatedJob
from trainform.core.plan import Plan as Plan
from trainform.core.plan import Where as Where
from trainform.core.plugin import STAGES as STAGES
from trainform.core.plugin import Plugin as Plugin
from trainform.core.pod_set import PodSet as PodSet
from trainform.core.pod_set import TrainerFields as TrainerFields
from trainform.core.pod_set import upsert as upsert
from trainform.core.provenance import Source as Source
from trainform.core.resources import gpu_count as gpu_count
from trainform.core.schedulers import SCHEDULER_NAMES as SCHEDULER_NAMES
from trainform.core.schedulers import check_schedulers as check_schedulers
from trainform.core.schedulers import gang_demand as gang_demand
from trainform.core.schedulers import per_stage_remedy as per_stage_remedy
from trainform.core.schedulers import send_to_scheduler as send_to_scheduler
from trainform.core.schedulers import steps_that_wait as steps_that_wait
from trainform.core.schedulers import tell_at_the_gang as tell_at_the_gang
from trainform.core.schedulers import tell_undeclared as tell_undeclared
from trainform.core.schedulers import tell_waiting_steps as tell_waiting_steps
from trainform.core.secrets import SecretNeed as SecretNeed
from trainform.core.secrets import is_in_the_clear as is_in_the_clear
from trainform.core.secrets import key_secret as key_secret
from trainform.core.trainer import COMPLETION_INDEX as COMPLETION_INDEX
from trainform.core.trainer import NUM_NODES as NUM_NODES
from trainform.core.trainer import TRAINER_PORT as TRAINER_PORT
from trainform.core.trainer import count_per_node as count_per_node
from trainform.core.trainer import env_var as env_var
from trainform.core.trainer import merge_trainer_resources as merge_trainer_resources
from trainform.core.trainer import no_reserved_variables as no_reserved_variables
from trainform.core.trainer import set_nodes as set_nodes
from trainform.core.trainer import set_trainer_env as set_trainer_env
from trainform.core.trainer import set_trainer_fields as set_trainer_fields
from trainform.core.trainer import tell_without_trainer as tell_without_trainer
from trainform.core.trainer import trainer_host as trainer_host
from trainform.core.trainer import trainer_resources as trainer_resources
from trainform.diagnostics import Diagnostic as Diagnostic
from trainform.diagnostics import Path as Path
from trainform.diagnostics import Place as Place
from trainform.diagnostics.suggest import did_you_mean as did_you_mean
from trainform.diagnostics.suggest import listed as listed
from trainform.k8s.admission import admitted_pod_spec as admitted_pod_spec
from trainform.k8s.devices import is_uncounted as is_uncounted
from trainform.k8s.fact_kinds import KAI_QUEUE as KAI_QUEUE
from trainform.k8s.fact_kinds import KAI_TOPOLOGY as KAI_TOPOLOGY
from trainform.k8s.images import ImageName as ImageName
from trainform.k8s.kueue_configuration import kueue_configuration as kueue_configuration
from trainform.k8s.labels import KAI_QUEUE_LABEL as KAI_QUEUE_LABEL
from trainform.k8s.labels import labels_of as labels_of
from trainform.k8s.labels import selector_keys as selector_keys
from trainform.k8s.labels import selector_matches as selector_matches
from trainform.k8s.names import qualified_name as qualified_name
from trainform.k8s.pod_requests import format_requests as format_requests
from trainform.k8s.pod_requests import pod_requests as pod_requests
from trainform.k8s.tree import Tree as Tree
from trainform.k8s.tree import number as number
from trainform.k8s.tree import object_name as object_name
from trainform.k8s.tree import table as table
from trainform.k8s.tree import tables as tables
from trainform.k8s.tree import text as text
from trainform.k8s.tree import texts as texts
from trainform.k8s.tree import value_at as value_at
from trainform.k8s.versions import ClusterVersion as ClusterVersion

if TYPE_CHECKING:
    # Environment models, for annotations: slow to import, and most runs have no Environment.
    from trainform.api.scheduling import KueueScheduling as KueueScheduling
    from trainform.api.scheduling import Topology as Topology


class PluginSettings(_Model):
    """Base class of a plugin's settings: fields with types and defaults, as in a pydantic model, in camelCase in YAML.
    An unknown field and a wrong type are errors at their line."""

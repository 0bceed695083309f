"""Lints: what a cluster accepts and people regret, checked on the finished job."""

from __future__ import annotations

from trainform.plugin import Plan, Plugin
from trainform_plugins.lints.commands import command_in_one_word, drops_the_launcher, nobody_starts_the_processes
from trainform_plugins.lints.counts import counts_replaced
from trainform_plugins.lints.devices import devices_do_not_count
from trainform_plugins.lints.finished import finished
from trainform_plugins.lints.gpus import cpu_image_with_gpus, gpu_image_without_gpus
from trainform_plugins.lints.hosts import (
    host_network_without_cluster_names,
    host_of_no_pod,
    no_host_names,
    no_names_before_ready,
)
from trainform_plugins.lints.images import impossible_images, unpinned_images
from trainform_plugins.lints.initializers import values_reach_no_initializer
from trainform_plugins.lints.marks import marks_without_effect
from trainform_plugins.lints.mpi import (
    images_differ,
    launcher_does_not_wait,
    node_of_two_pods,
    variables_of_open_mpi_4,
)
from trainform_plugins.lints.ports import port_used_twice
from trainform_plugins.lints.references import unresolved_references
from trainform_plugins.lints.resources import hardly_meant, limit_without_its_request, limits_only
from trainform_plugins.lints.scale import crowded_job, gang_without_timeout
from trainform_plugins.lints.shared_memory import little_shared_memory
from trainform_plugins.lints.tokens import tokens_in_the_clear
from trainform_plugins.lints.torchrun import contradicting_flags
from trainform_plugins.lints.variables import variables_of_jax, variables_of_torchrun

LINTS = (
    gpu_image_without_gpus,
    cpu_image_with_gpus,
    devices_do_not_count,
    little_shared_memory,
    contradicting_flags,
    variables_of_torchrun,
    variables_of_jax,
    unresolved_references,
    nobody_starts_the_processes,
    command_in_one_word,
    counts_replaced,
    node_of_two_pods,
    variables_of_open_mpi_4,
    port_used_twice,
    impossible_images,
    unpinned_images,
    images_differ,
    launcher_does_not_wait,
    variables_of_open_mpi_4,
    host_of_no_pod,
    no_host_names,
    no_names_before_ready,
    host_network_without_cluster_names,
    hardly_meant,
    limit_without_its_request,
    limits_only,
    gang_without_timeout,
    crowded_job,
    marks_without_effect,
    values_reach_no_initializer,
    tokens_in_the_clear,
)
"""The lints of the finished JobSet, one function each; the docstring says why it exists."""


class Lints(Plugin):
    """Warns about common mistakes. Changes nothing, and never fails a job."""

    name = "lints"

    def validate(self, plan: Plan) -> None:
        """Checks that need the parts: the runtime's command is gone once the TrainJob's is merged in."""
        drops_the_launcher(plan)

    def check(self, plan: Plan) -> None:
        job = finished(plan)
        if job is not None:
            for lint in LINTS:
                lint(job)

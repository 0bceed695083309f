"""The lint about devices that the Trainer does not count."""

from __future__ import annotations

from collections.abc import Iterator

from trainform.plugin import Plan, ReplicatedJob, Tree, gpu_count, is_uncounted, tables
from trainform_plugins.lints.finished import Finished, values

PROCESSES = ("PET_NPROC_PER_NODE", "OMPI_MCA_orte_set_default_slots", "DMLC_NUM_WORKER")
"""Variables for the number of processes; the last one counts those of all nodes."""


def devices_do_not_count(job: Finished) -> None:
    """The Trainer counts only resources whose name contains "gpu": with others, processes follow the CPUs, or are one.

    Why: slices (`nvidia.com/mig-1g.5gb`), other accelerators (`habana.ai/gaudi`) and resource claims have no such name.
    Bites: users of a node with 80 CPUs and eight accelerators, who get 80 processes on it. Not reported if the numbers
    agree, or if the TrainJob or the runtime sets the number of processes. Known from kubeflow/trainer's counting rule
    and its gaps (trainer PR 3974).
    """
    if sets_processes(job.plan):
        return
    for pods, node in job.nodes:
        devices = uncounted(job.plan, pods, node)
        if devices:
            _compare(job, pods, node, devices)
            return


def sets_processes(plan: Plan) -> bool:
    """Whether somebody wrote the number of processes per node, so that nothing is counted."""
    policy = plan.runtime.spec.ml_policy
    declared = policy.mpi.num_proc_per_node if policy and policy.mpi else 1
    return plan.num_proc_per_node is not None or declared not in (None, 1)


def uncounted(plan: Plan, pods: ReplicatedJob, container: Tree) -> dict[str, int]:
    """The container's devices that do not count, by name; 0 for a claim of unknown size. Claims are looked at only if
    nothing else is a device: they may be for network cards."""
    resources = container.get("resources") or {}
    asked = {**(resources.get("requests") or {}), **(resources.get("limits") or {})}
    found = {name: int(str(amount)) for name, amount in asked.items() if is_uncounted(name) and str(amount).isdigit()}
    if found or gpu_count(resources):
        return found
    return {f"claim {claim['name']}": _size(plan, pods, claim) for claim in tables(resources, "claims")}


def _size(plan: Plan, pods: ReplicatedJob, claim: Tree) -> int:
    """The number of devices in a claim, by its template in the cluster facts; 0 if unknown."""
    for own in tables(pods.pod_spec, "resourceClaims"):
        template = own.get("resourceClaimTemplateName")
        if own.get("name") == claim["name"] and template:
            fact = plan.facts.get("ResourceClaimTemplate", str(template), plan.namespace)
            return sum(_counts(fact, claim.get("request"))) if fact else 0
    return 0


def _counts(template: Tree, wanted: str | None) -> Iterator[int]:
    """The device counts of the requests that a container uses: the one called `wanted`, else all."""
    devices = (template["spec"].get("spec") or {}).get("devices") or {}
    for request in devices.get("requests") or ():
        exactly = request.get("exactly") or request
        is_wanted = wanted is None or request.get("name") == wanted
        if is_wanted and exactly.get("allocationMode") != "All" and "firstAvailable" not in request:
            yield exactly.get("count", 1)


def _compare(job: Finished, pods: ReplicatedJob, node: Tree, devices: dict[str, int]) -> None:
    """Compare a node's devices with the processes, which an MPI job counts in its launcher."""
    name, value = next(filter(None, (processes_of(values(each)) for _, each in job.nodes)), ("", ""))
    of_all_nodes = name == PROCESSES[-1]
    wanted = sum(devices.values()) * (pods.parallelism if of_all_nodes else 1)
    if value.isdigit() and int(value) != wanted:
        job.plan.warn(
            "TF603",
            f"{', '.join(devices)} does not count as a GPU: {name} is {value}" + (f", not {wanted}" if wanted else ""),
            hint="request whole GPUs" if of_all_nodes else "set spec.trainer.numProcPerNode to the devices per node",
            **job.resources(pods, node),
        )


def processes_of(variables: dict[str, str]) -> tuple[str, str] | None:
    """The variable with the number of processes, and its value."""
    return next(((name, variables[name]) for name in PROCESSES if name in variables), None)

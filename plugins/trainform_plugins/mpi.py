"""MPI: a launcher that reaches its nodes over SSH, with a hostfile and a key pair."""

from __future__ import annotations

import re
from collections.abc import Iterable

from trainform.plugin import (
    NODE_CONTAINER,
    NUM_NODES,
    TRAINER_STEP,
    Given,
    GivenHost,
    GivenPort,
    GivenVariable,
    MpiPolicy,
    Plan,
    Plugin,
    PodSet,
    Tree,
    count_per_node,
    key_secret,
    merge_trainer_resources,
    no_reserved_variables,
    set_trainer_env,
    tables,
    text,
    texts,
)

LAUNCHER = "launcher"
NODE = "node"
"""The two replicated jobs, by name; their main container is called `node` in both."""

KEYS = "mpi-ssh-auth"
HOSTFILE = "mpi-hostfile"
"""The volumes. Prefixed with the name of job or JobSet, they name the Secret and the ConfigMap that they mount."""

_PASSED_ON = r"(?:^|\s)-x\s+[\"']?(\w+)"
"""A variable that Open MPI's mpirun passes on: `-x NAME` or `-x NAME=value`."""

HOSTFILE_KEY = "hostfile"
HOSTFILE_FOLDER = "/etc/mpi"
KEY_FILES = (
    ("ssh-privatekey", "id_rsa", 0o640),
    ("ssh-publickey", "id_rsa.pub", 0o644),
    ("ssh-publickey", "authorized_keys", 0o644),
)
"""Key of the Secret, file and mode. Source: kubeflow/trainer `pkg/constants`."""

SLOTS = "OMPI_MCA_orte_set_default_slots"
OPEN_MPI = {
    "OMPI_MCA_orte_default_hostfile": f"{HOSTFILE_FOLDER}/{HOSTFILE_KEY}",
    "OMPI_MCA_orte_keep_fqdn_hostnames": "true",
    SLOTS: "",
    "OMPI_MCA_plm_rsh_args": "-o ConnectionAttempts=10",
}
"""OpenMPI variables of the launcher; the number of slots depends on the job."""

SSH_PORT = 2222
"""What the sshd of Trainer's images listens on."""

_MEANINGS = {
    "OMPI_MCA_orte_default_hostfile": ("The file with the hosts of mpirun.", "the mounted ConfigMap"),
    "OMPI_MCA_orte_keep_fqdn_hostnames": ("Whether mpirun keeps host names with their subdomain.", "always true"),
    SLOTS: (
        "How many processes mpirun starts on a host that the hostfile gives no number.",
        "trainer.numProcPerNode, else the runtime's, else the GPUs of a node",
    ),
    "OMPI_MCA_plm_rsh_args": ("Arguments of ssh: it tries ten times to reach a host.", "always the same"),
}

GIVEN = Given(
    variables=tuple(GivenVariable(name, *_MEANINGS[name], OPEN_MPI[name] or "2") for name in OPEN_MPI),
    hosts=(
        GivenHost("llm-launcher-0-0.llm", "The launcher, which runs mpirun."),
        GivenHost("llm-node-0-2.llm", "A node, as the hostfile lists it."),
    ),
    ports=(GivenPort(SSH_PORT, "The sshd of the image, through which mpirun starts processes.", "every pod"),),
)


class Mpi(Plugin):
    """Gives `launcher` and `node` the keys, and the launcher the hostfile and OpenMPI's variables. Source:
    kubeflow/trainer `pkg/runtime/framework/plugins/mpi`."""

    name = "mpi"
    given = GIVEN

    def applies(self, plan: Plan) -> bool:
        return plan.framework == "mpi"

    def validate(self, plan: Plan) -> None:
        no_reserved_variables(plan, GIVEN.names, "set spec.trainer.numNodes and numProcPerNode instead")
        _has_room_for_nodes(plan)
        _is_open_mpi(plan)
        _tell_who_gets_variables(plan)

    def enforce_ml_policy(self, plan: Plan) -> None:
        _count_pods(plan)
        if (node := _nodes_beside_launcher(plan)) is not None:
            merge_trainer_resources(plan, node)
        members = [pods for name in (LAUNCHER, NODE) if (pods := plan.pod_set(name))]
        if members:
            plan.need_secret("ssh", _secret_name(plan))
        for pods in members:
            _give_keys(plan, pods)
        launcher = plan.pod_set(LAUNCHER)
        if launcher is not None:
            _give_hostfile(plan, launcher)

    def enforce_pod_spec(self, plan: Plan) -> None:
        """If the launcher also trains, the nodes get the TrainJob's variables too."""
        node = _nodes_beside_launcher(plan)
        if node is not None:
            set_trainer_env(plan, node)

    def build(self, plan: Plan) -> Iterable[Tree]:
        return (plan.new_object("v1", "ConfigMap", f"{plan.name}-{HOSTFILE}", data={HOSTFILE_KEY: _hostfile(plan)}),)


def _policy(plan: Plan) -> MpiPolicy:
    """The runtime's policy; call only if the plugin applies."""
    policy = plan.runtime.spec.ml_policy
    assert policy is not None
    assert policy.mpi is not None
    return policy.mpi


def _has_room_for_nodes(plan: Plan) -> None:
    nodes = plan.num_nodes or 1
    missing = [name for name in (LAUNCHER, NODE) if plan.pod_set(name) is None]
    if nodes > 1 and _policy(plan).run_launcher_as_node and missing:
        plan.report(
            "TF321",
            f"{nodes} nodes need the replicated jobs {LAUNCHER!r} and {NODE!r}, "
            f"but runtime {plan.runtime.name!r} has no {' and no '.join(map(repr, missing))}",
            hint="set numNodes to 1, or choose a runtime with both",
            path=("spec", "trainer", "numNodes"),
        )


def _not_passed_on(plan: Plan, launcher: PodSet, node: PodSet) -> set[str]:
    """The trainer's variables that neither mpirun's -x nor the nodes' own container gives the processes there."""
    ours, theirs = launcher.container(NODE_CONTAINER) or {}, node.container(NODE_CONTAINER) or {}
    words = (plan.trainer.command or texts(ours, "command"), plan.trainer.args or texts(ours, "args"))
    command = " ".join(word for part in words for word in part)
    given = {*re.findall(_PASSED_ON, command), *(text(each, "name") for each in tables(theirs, "env"))}
    return {text(each, "name") for each in plan.trainer.env} - given


def _is_open_mpi(plan: Plan) -> None:
    """The API allows an empty name, but the controller then fails to build the job."""
    if not _policy(plan).mpi_implementation:
        plan.report(
            "TF323",
            "must name an MPI implementation",
            hint="remove it to use OpenMPI, the only one supported so far",
            source=("runtime", ("spec", "mlPolicy", "mpi", "mpiImplementation")),
        )


def _tell_who_gets_variables(plan: Plan) -> None:
    launcher, node = plan.pod_set(LAUNCHER), plan.pod_set(NODE)
    if launcher is None or node is None or not plan.trainer.env:
        return
    reaches_nodes = node.step == TRAINER_STEP or _policy(plan).run_launcher_as_node
    if not reaches_nodes and _not_passed_on(plan, launcher, node):
        plan.report(
            "TF322",
            "these variables reach only the launcher, not the processes on the nodes",
            severity="info",
            hint="pass them on with mpirun's -x, or use a runtime with runLauncherAsNode: true",
            path=("spec", "trainer", "env"),
        )


def _nodes_beside_launcher(plan: Plan) -> PodSet | None:
    """Job `node`, if it trains along with the launcher without being labeled as the trainer step."""
    node = plan.pod_set(NODE)
    if node is None or node.step == TRAINER_STEP or not _policy(plan).run_launcher_as_node:
        return None
    return node


def _count_pods(plan: Plan) -> None:
    """Set the pods of job `node` to the TrainJob's nodes, less the launcher if that is a node. A launcher labeled as
    the trainer step is still one pod, and the runtime's `numNodes` counts the nodes (D07)."""
    launcher, node = plan.pod_set(LAUNCHER), plan.pod_set(NODE)
    asked = plan.num_nodes
    if node is not None and asked is not None:
        node.set_count(_without_launcher(plan, asked), NUM_NODES)
    if launcher is None or launcher.step != TRAINER_STEP:
        return
    controllers = (launcher.count, node.count if node else 0)
    launcher.count = 1
    if node is not None and asked is None:
        node.count = _runtimes_nodes(plan, node)
    ours = (launcher.count, node.count if node else 0)
    if ours != controllers:
        plan.deviates(
            "D07",
            "the controller would run {} pods of launcher and {} of node, not {} and {}".format(*controllers, *ours),
            source=("runtime", launcher.step_label_path),
        )


def _runtimes_nodes(plan: Plan, node: PodSet) -> int:
    policy = plan.runtime.spec.ml_policy
    if policy is not None and policy.num_nodes is not None:
        return _without_launcher(plan, policy.num_nodes)
    parallelism: int = node.job_spec.get("parallelism", 1)
    return max(parallelism, 1)


def _without_launcher(plan: Plan, nodes: int) -> int:
    return max(nodes - 1, 1) if _policy(plan).run_launcher_as_node else nodes


def _give_keys(plan: Plan, pods: PodSet) -> None:
    """Mount the keys with explicit modes: SSH rejects a world-readable private key."""
    items = [{"key": key, "path": file, "mode": mode} for key, file, mode in KEY_FILES]
    secret = {"secretName": _secret_name(plan), "items": items, "defaultMode": 0o400}
    pods.add_volume({"name": KEYS, "secret": secret})
    container = pods.container(NODE_CONTAINER)
    if container is not None:
        pods.mount(container, {"name": KEYS, "mountPath": _policy(plan).ssh_auth_mount_path})


def _give_hostfile(plan: Plan, launcher: PodSet) -> None:
    items = [{"key": HOSTFILE_KEY, "path": HOSTFILE_KEY, "mode": 0o444}]
    launcher.add_volume({"name": HOSTFILE, "configMap": {"name": f"{plan.name}-{HOSTFILE}", "items": items}})
    container = launcher.container(NODE_CONTAINER)
    if container is None:
        return
    launcher.mount(container, {"name": HOSTFILE, "mountPath": HOSTFILE_FOLDER})
    variables = {**OPEN_MPI, SLOTS: str(_slots(plan))}
    launcher.set_env(container, *({"name": name, "value": value} for name, value in variables.items()))


def _slots(plan: Plan) -> int:
    """Processes per node: the TrainJob's number, else the runtime's, where 1 means one per GPU."""
    if plan.num_proc_per_node is not None:
        return plan.num_proc_per_node
    declared = _policy(plan).num_proc_per_node
    if declared != 1:
        return declared
    node = plan.pod_set(NODE)
    container = (node.container(NODE_CONTAINER) if node else None) or plan.trainer_container or {}
    return count_per_node(
        plan,
        container.get("resources"),
        lambda gpus, _: max(gpus, 1),
        "the slots of a node",
        counts_always=True,
    )


def _hostfile(plan: Plan) -> str:
    """One line per node, in the order of the runtime's replicated jobs."""
    names = (LAUNCHER, NODE) if _policy(plan).run_launcher_as_node else (NODE,)
    hosts = [
        pods.host(plan.name, plan.subdomain, replica=replica, pod=pod)
        for pods in plan.pod_sets
        if pods.name in names
        for replica in range(pods.replicas)
        for pod in range(pods.count)
    ]
    slots = _slots(plan) if hosts else 0
    return "".join(f"{host} slots={slots}\n" for host in hosts)


def _secret_name(plan: Plan) -> str:
    return key_secret("ssh", plan.stable_name)

"""Flux: an HPC resource manager inside the job that runs the command on all nodes."""

from __future__ import annotations

from collections.abc import Iterable

from trainform.plugin import (
    NODE_CONTAINER,
    Given,
    GivenHost,
    GivenPort,
    Plan,
    Plugin,
    PodSet,
    Tree,
    gpu_count,
    key_secret,
    trainer_host,
    upsert,
)

INSTALLER = "flux-installer"
VIEW_IMAGE = "FLUX_VIEW_IMAGE"
NETWORK_DEVICE = "FLUX_NETWORK_DEVICE"
QUEUE_POLICY = "FLUX_QUEUE_POLICY"
DEFAULTS = {
    VIEW_IMAGE: "ghcr.io/converged-computing/flux-view-ubuntu:tag-jammy",
    NETWORK_DEVICE: "eth0",
    QUEUE_POLICY: "fcfs",
}
"""Settings, read as trainer variables from the TrainJob, else from the runtime."""

SHARED = "/mnt/flux"
SOFTWARE = "/opt/software"
CURVE = "/curve"
SCRIPTS = "/etc/flux-config"
VIEW = "/opt/view"
"""Where a Flux image has it; the other paths are mounts."""

PORT = 8050
"""The brokers' port; each pod has one broker."""

GIVEN = Given(
    hosts=(GivenHost("llm-node-0-[0-3]", "The brokers, as Flux's configuration lists them."),),
    ports=(GivenPort(PORT, "The Flux broker.", "every pod"),),
)


class Flux(Plugin):
    """Wraps the trainer step's command in a Flux instance that spans its pods. Source: kubeflow/trainer
    `pkg/runtime/framework/plugins/flux`. The scripts are our own, written from the manuals of flux-core: flux-start(1),
    flux-run(1), flux-config-bootstrap(5), flux-config-resource(5)."""

    name = "flux"
    given = GIVEN

    def applies(self, plan: Plan) -> bool:
        return plan.framework == "flux"

    def validate(self, plan: Plan) -> None:
        _has_settings(plan)
        _has_no_installer(plan)
        _has_command(plan)

    def enforce_ml_policy(self, plan: Plan) -> None:
        pods, node = plan.trainer_pod_set, plan.trainer_container
        if pods is None or node is None:
            return
        _add_installer(plan, pods, node)
        _mount_volumes(plan, pods, node)
        _wrap_command(plan, pods)
        _tell_deviations(plan)
        plan.need_secret("curve", _secret(plan))

    def build(self, plan: Plan) -> Iterable[Tree]:
        pods, node = plan.trainer_pod_set, plan.trainer_container
        if pods is None or node is None:
            return ()
        from trainform_plugins.flux.scripts import render  # imports jinja2, which other jobs do not need

        scripts = render(_values(plan, pods, node))
        return (plan.new_object("v1", "ConfigMap", _config_map(plan), data=scripts),)


def _has_settings(plan: Plan) -> None:
    for index, variable in enumerate(plan.trainer.env):
        if variable.get("name") in DEFAULTS and not variable.get("value"):
            plan.report(
                "TF340",
                f"{variable['name']} configures Flux before any pod runs, so it needs a literal value",
                hint=f"write value: {DEFAULTS[variable['name']]}, or remove the variable",
                path=("spec", "trainer", "env"),
                point=("spec", "trainer", "env", index, "name"),
            )


def _has_no_installer(plan: Plan) -> None:
    pods = plan.trainer_pod_set
    if pods and any(c.get("name") == INSTALLER for c in pods.pod_spec.get("initContainers") or ()):
        plan.report(
            "TF341",
            f"runtime {plan.runtime.name!r} has an init container {INSTALLER!r}; Flux jobs reserve this name",
            hint="rename or remove it in the runtime",
            path=("spec", "trainer", "initContainers"),
            point=("spec", "runtimeRef"),
        )


def _has_command(plan: Plan) -> None:
    pods = plan.trainer_pod_set
    if pods and not _command(plan, pods)[0]:
        plan.warn(
            "TF342",
            "Flux has no command to run: the image's entrypoint is unknown",
            hint="write spec.trainer.command",
            path=("spec", "trainer"),
        )


def _processes(plan: Plan) -> int:
    """Tasks per node: the TrainJob's, else the runtime's."""
    policy = plan.runtime.spec.ml_policy
    if plan.num_proc_per_node is not None:
        return plan.num_proc_per_node
    return policy.flux.num_proc_per_node if policy and policy.flux else 1


def _settings(plan: Plan, node: Tree) -> dict[str, str]:
    """The value of each setting; the TrainJob's variables win."""
    values = dict(DEFAULTS)
    for variable in (*(node.get("env") or ()), *plan.trainer.env):
        if variable["name"] in values and variable.get("value"):
            values[variable["name"]] = variable["value"]
    return values


def _add_installer(plan: Plan, pods: PodSet, node: Tree) -> None:
    installer: Tree = {
        "name": INSTALLER,
        "image": _settings(plan, node)[VIEW_IMAGE],
        "command": ["/bin/bash", f"{SCRIPTS}/init.sh"],
    }
    pods.mount(installer, _mount("flux-install", SHARED), _mount(_volume(plan), SCRIPTS, readOnly=True))
    upsert(pods.pod_spec, "initContainers", [installer])


def _mount_volumes(plan: Plan, pods: PodSet, node: Tree) -> None:
    scripts = _volume(plan)
    pods.add_volume(
        {"name": "spack-install", "emptyDir": {}},
        {"name": "flux-install", "emptyDir": {}},
        {"name": scripts, "configMap": {"name": _config_map(plan), "defaultMode": 0o755}},
        {"name": "shared-memory", "emptyDir": {"medium": "Memory"}},
        {"name": "flux-curve", "secret": {"secretName": _secret(plan), "defaultMode": 0o400}},
    )
    pods.mount(
        node,
        _mount("flux-install", SHARED),
        _mount("spack-install", SOFTWARE),
        _mount(scripts, SCRIPTS, readOnly=True),
        _mount("flux-curve", CURVE, readOnly=True),
        _mount("shared-memory", "/dev/shm", readOnly=True),
    )


def _mount(volume: str, path: str, **options: bool) -> Tree:
    return {"name": volume, "mountPath": path, **options}


def _config_map(plan: Plan) -> str:
    return f"{plan.name}-flux-entrypoint"


def _volume(plan: Plan) -> str:
    """The scripts' volume. Its name is local to the pod, and patches refer to it without a content hash."""
    return f"{plan.stable_name}-flux-entrypoint"


def _secret(plan: Plan) -> str:
    return key_secret("curve", plan.stable_name)


def _wrap_command(plan: Plan, pods: PodSet) -> None:
    """Put the entrypoint before the command. Joined by spaces, as in the controller, the command only informs readers
    of the pod: the script itself has its exact words."""
    command, _ = _command(plan, pods)
    words = [*command, *(plan.trainer.args or ())]
    plan.trainer.command = ["/bin/bash", f"{SCRIPTS}/entrypoint.sh", " ".join(words).strip()]
    plan.trainer.args = None


def _command(plan: Plan, pods: PodSet) -> tuple[list[str], list[str]]:
    """Command and arguments from the TrainJob, else from the runtime."""
    template, trainer = plan.runtime.spec.template, plan.job.spec.trainer
    jobs: list[Tree] = (template.spec or {}).get("replicatedJobs") or [] if template else []
    runtimes = PodSet.of(jobs[int(pods.path[-1])], pods.path, pods.ledger).container(NODE_CONTAINER) or {}
    command = trainer.command if trainer else None
    args = trainer.args if trainer else None
    return (
        (runtimes.get("command") or []) if command is None else command,
        (runtimes.get("args") or []) if args is None else args,
    )


def _tell_deviations(plan: Plan) -> None:
    if plan.num_nodes is None:
        message = "the controller would crash on a Flux job without spec.trainer.numNodes"
        plan.deviates("D08", message, path=("spec",))
    else:
        trainer_host(plan)  # reports D17


def _values(plan: Plan, pods: PodSet, node: Tree) -> Tree:
    """The templates' values."""
    command, args = _command(plan, pods)
    settings = _settings(plan, node)
    gpus = gpu_count(node.get("resources"))
    return {
        "shared": SHARED,
        "software": SOFTWARE,
        "view": VIEW,
        "curve": CURVE,
        "port": PORT,
        "subdomain": plan.subdomain,
        "hosts": f"{plan.name}-{pods.name}-0-" + (f"[{_ids(pods.count)}]" if pods.count > 1 else "0"),
        "cores": _ids(_processes(plan)),
        "gpus": _ids(gpus) if gpus else "",
        "nodes": pods.count,
        "tasks": pods.count * _processes(plan),
        "network_device": settings[NETWORK_DEVICE],
        "queue_policy": settings[QUEUE_POLICY],
        "words": [*command, *args],
    }


def _ids(count: int) -> str:
    """The numbers below `count` in Flux's notation for a set."""
    return "0" if count == 1 else f"0-{count - 1}"

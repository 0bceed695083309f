"""The JobSet: applies the TrainJob's pod settings and builds the object that runs them."""

from __future__ import annotations

from collections.abc import Iterable

from trainform.plugin import (
    TRAINER_STEP,
    Path,
    Plan,
    Plugin,
    PodSet,
    Tree,
    check_schedulers,
    env_var,
    set_trainer_fields,
    upsert,
)

INITIALIZERS = ("dataset", "model")
STORAGE_URI = "STORAGE_URI"
INITIALIZER_VOLUME = "initializer"
STEPS = ("dataset-initializer", "model-initializer", TRAINER_STEP)
QUEUE_LABELS = (
    "kueue.x-k8s.io/queue-name",
    "kueue.x-k8s.io/priority-class",
    "kueue.x-k8s.io/max-exec-time-seconds",
    "kai.scheduler/queue",
)
MULTIKUEUE = "kueue.x-k8s.io/multikueue"
RERUN = "trainform.dev/rerun"


class JobSet(Plugin):
    """Applies initializers and trainer fields, updates counts, and builds the JobSet. Source: kubeflow/trainer
    `pkg/runtime/framework/plugins/jobset`."""

    name = "jobset"

    def validate(self, plan: Plan) -> None:
        for kind in INITIALIZERS:
            if getattr(plan.job.spec.initializer, kind, None) is not None:
                _has_initializer(plan, kind)

    def enforce_pod_spec(self, plan: Plan) -> None:
        for pods in plan.pod_sets:
            if pods.step in STEPS:
                pods.job["replicas"] = 1
            if pods.step == TRAINER_STEP:
                set_trainer_fields(plan, pods)
            elif pods.step:
                _apply_initializer(plan, pods)

    def pre_build_sync(self, plan: Plan) -> None:
        _tell_lost_ports(plan)
        for pods in plan.pod_sets:
            pods.sync()

    def build(self, plan: Plan) -> Iterable[Tree]:
        spec = {**plan.spec, "replicatedJobs": [pods.job for pods in plan.pod_sets]}
        _suspend(plan, spec)
        _managed_by(plan, spec)
        _deadline(plan, spec)
        jobset: Tree = {
            "apiVersion": "jobset.x-k8s.io/v1alpha2",
            "kind": "JobSet",
            "metadata": _with_rerun(plan, _with_queue_labels(plan)),
            "spec": spec,
        }
        return (jobset,)

    def check(self, plan: Plan) -> None:
        check_schedulers(plan)


def _has_initializer(plan: Plan, kind: str) -> None:
    """An initializer needs a replicated job and container of its name, with the volume mounted."""
    name = f"{kind}-initializer"
    pods = plan.pod_set(name)
    container = next((c for c in pods.all_containers if c.get("name") == name), None) if pods else None
    if pods is None:
        missing = f"no replicated job {name!r}"
    elif container is None:
        missing = f"no container {name!r} in replicated job {name!r}"
    elif all(mount.get("name") != INITIALIZER_VOLUME for mount in container.get("volumeMounts") or ()):
        missing = f"no mount of volume {INITIALIZER_VOLUME!r} in container {name!r}"
    else:
        return
    plan.report(
        "TF314",
        f"spec.initializer.{kind} needs a runtime with that step, but runtime {plan.runtime.name!r} has {missing}",
        hint=f"choose a runtime with a {name} step, or remove spec.initializer.{kind}",
        path=("spec", "runtimeRef"),
        point=("spec", "runtimeRef", "name"),
    )


def _apply_initializer(plan: Plan, pods: PodSet) -> None:
    kind = pods.step.removesuffix("-initializer")
    wanted = getattr(plan.job.spec.initializer, kind, None) if kind in INITIALIZERS else None
    container = pods.container(pods.step)
    if wanted is None or container is None:
        return
    path: Path = ("spec", "initializer", kind)
    if wanted.storage_uri is not None:
        upsert(container, "env", [{"name": STORAGE_URI, "value": wanted.storage_uri}])
        pods.record_source(("trainjob", (*path, "storageUri")), "env", (STORAGE_URI, 0), "value", container=container)
    upsert(container, "env", map(env_var, wanted.env or ()))
    pods.record_source(("trainjob", (*path, "env")), "env", container=container)
    if wanted.secret_ref is not None:
        name = wanted.secret_ref.name or ""
        container["envFrom"] = [*(container.get("envFrom") or ()), {"secretRef": {"name": name}}]
        pods.record_source(("trainjob", (*path, "secretRef")), "envFrom", (name, 0), "secretRef", container=container)


def _tell_lost_ports(plan: Plan) -> None:
    """D01: the controller treats two unnamed ports as the same one."""
    for pods in plan.pod_sets:
        for container in pods.containers:
            ports = container.get("ports") or []
            declared, wanted = pods.wanted_ports.get(str(container.get("name")), (ports, []))
            if plan.job.spec.trainer is None:  # the controller then adds none (D08)
                ports, wanted = declared, []
            if len(ports) < 2 and not (declared and wanted):
                continue
            controllers = _controllers_ports(declared, wanted)
            if list(map(_port, controllers)) != list(map(_port, ports)):
                plan.deviates(
                    "D01",
                    f"the controller would declare {_numbers(controllers)} instead of {_numbers(ports)}: it treats "
                    "all unnamed ports as the same port",
                    source=("runtime", (*pods.container_path(container), "ports")),
                )


def _controllers_ports(declared: list[Tree], wanted: list[Tree]) -> list[Tree]:
    """One container's ports as they end up in the controller, which keeps two copies of the list, one aliasing the
    other, and upserts one into the other. Source: kubeflow/trainer `pkg/apply/apply.go`, UpsertPort."""
    template = list(declared)
    copy = template
    for port in wanted:
        at = _same_port(copy, port)
        if at is None:
            copy = [*copy, port]
        else:
            copy[at] = port
    for index in range(len(copy)):
        at = _same_port(template, copy[index])
        if at is None:
            template.append(copy[index])
        else:
            template[at] = copy[index]
    return template


def _same_port(ports: list[Tree], port: Tree) -> int | None:
    same = (any(port.get(key) == other.get(key) for key in ("containerPort", "name")) for other in ports)
    return next((index for index, is_same in enumerate(same) if is_same), None)


def _port(port: Tree) -> tuple[object, ...]:
    return (port.get("containerPort"), port.get("protocol", "TCP"), port.get("name"), port.get("hostPort"))


def _numbers(ports: list[Tree]) -> str:
    words = ([str(port[key]) for key in ("name", "containerPort") if key in port] for port in ports)
    return ", ".join(map(" ".join, words))


def _suspend(plan: Plan, spec: Tree) -> None:
    """`suspend` comes from the TrainJob only, and is written only if true (D11)."""
    spec.pop("suspend", None)
    if plan.job.spec.suspend:
        spec["suspend"] = True
        plan.record_source(("trainjob", ("spec", "suspend")), "spec", "suspend")


def _managed_by(plan: Plan, spec: Tree) -> None:
    if plan.job.spec.managed_by == MULTIKUEUE:
        spec["managedBy"] = MULTIKUEUE
        plan.record_source(("trainjob", ("spec", "managedBy")), "spec", "managedBy")
        plan.deviates(
            "D14",
            "the controller would skip this TrainJob; trainform hands its JobSet to MultiKueue",
            path=("spec", "managedBy"),
        )


def _deadline(plan: Plan, spec: Tree) -> None:
    """D13: the trainer's Job gets the deadline. Exceeding it fails the JobSet at once, since a restart would reset the
    clock."""
    deadline = plan.job.spec.active_deadline_seconds
    trainers = [pods for pods in plan.pod_sets if pods.step == TRAINER_STEP]
    if deadline is None or not trainers:
        return
    for pods in trainers:
        own = pods.job_spec.get("activeDeadlineSeconds")
        pods.job_spec["activeDeadlineSeconds"] = deadline if own is None else min(own, deadline)
        pods.record_source(("trainjob", ("spec", "activeDeadlineSeconds")), "activeDeadlineSeconds")
    rule = {
        "name": "trainjobDeadline",
        "action": "FailJobSet",
        "onJobFailureReasons": ["DeadlineExceeded"],
        "targetReplicatedJobs": [pods.name for pods in trainers],
    }
    policy = spec.get("failurePolicy") or {}
    spec["failurePolicy"] = {**policy, "rules": [rule, *(policy.get("rules") or ())]}
    plan.deviates(
        "D13",
        "the controller would enforce the deadline itself; here the trainer's Job does, counted from its own start",
        path=("spec", "activeDeadlineSeconds"),
    )


def _with_rerun(plan: Plan, metadata: Tree) -> Tree:
    """Copies the annotation that `trainform rerun` increments, so that the JobSet becomes a different one."""
    count = (plan.job.metadata.annotations or {}).get(RERUN)
    if count is None:
        return metadata
    return {**metadata, "annotations": {**(metadata.get("annotations") or {}), RERUN: count}}


def _with_queue_labels(plan: Plan) -> Tree:
    """D12: copies the TrainJob's queue labels to the JobSet, since no cluster sees the TrainJob. They override the
    Environment's, which override the template's."""
    wanted = plan.job.metadata.labels
    if not wanted:
        return plan.metadata
    labels = plan.metadata.get("labels") or {}
    known = dict.fromkeys((*QUEUE_LABELS, plan.gang.queue_label))
    for key in known:
        plan.record_source(("trainjob", ("metadata", "labels", key)), "metadata", "labels", key)
    moved = {key: wanted[key] for key in known if key in wanted and wanted[key] != labels.get(key)}
    if not moved:
        return plan.metadata
    plan.deviates_each(
        "D12",
        f"the controller would leave {', '.join(moved)} on the TrainJob instead of the JobSet",
        path=("metadata", "labels"),
    )
    return {**plan.metadata, "labels": {**labels, **moved}}

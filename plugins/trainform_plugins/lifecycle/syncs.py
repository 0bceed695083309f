"""What can come between a GitOps engine and the objects that it applies."""

from __future__ import annotations

from trainform.plugin import (
    SYNC_OPTION_VALUES,
    SYNC_OPTIONS,
    SYNC_WAVE,
    JobSetView,
    Plan,
    Tree,
    did_you_mean,
    is_sync_option,
    listed,
    sync_options,
    sync_wave,
    table,
)
from trainform_plugins.lifecycle.source import ENGINES, engine_of

HOOKS = ("argocd.argoproj.io/hook", "helm.sh/hook")
"""Annotations that Argo CD treats as hooks."""

TRACKING = {
    "argocd": (
        ("labels", "app.kubernetes.io/instance"),
        ("annotations", "argocd.argoproj.io/tracking-id"),
        ("annotations", "argocd.argoproj.io/installation-id"),
    ),
    "flux": (
        ("labels", "kustomize.toolkit.fluxcd.io/name"),
        ("labels", "kustomize.toolkit.fluxcd.io/namespace"),
    ),
}
"""Marks by which an engine recognizes its own objects."""

FLUX_RECONCILE = "kustomize.toolkit.fluxcd.io/reconcile"

QUEUE = "kueue.x-k8s.io/queue-name"

ALWAYS_THERE = ("default", "kube-public", "kube-system")
"""Namespaces that every cluster has."""


def is_a_hook(plan: Plan) -> None:
    """Training is no hook: Argo CD runs hooks on each sync, and neither compares nor prunes them.

    Why: hooks serve a sync and are not part of the desired state; an Application with nothing else does not even sync.
    Bites: anyone who wants training to start after something else, which is what sync waves are for.
    """
    if not engine_of(plan):
        return
    for tree in plan.objects:
        annotations = table(table(tree, "metadata"), "annotations")
        for key in (key for key in HOOKS if key in annotations):
            plan.report_object(
                tree,
                ("metadata", "annotations", key),
                "TF623",
                f"{key} turns {tree['kind']} {tree['metadata']['name']} into a hook: it would run on each sync "
                "and be excluded from diffing and pruning",
                hint="remove it; to order objects, use argocd.argoproj.io/sync-wave",
            )


def held_by_kueue(plan: Plan, jobset: JobSetView) -> None:
    """`suspend: true` holds nothing back in a queue: Kueue resumes the job when its turn comes.

    Why: Kueue starts and stops jobs by that same field. Bites: anyone who parks a job in git this way, and finds it
    running.
    """
    queue = jobset.labels.get(QUEUE)
    if queue and jobset.spec.get("suspend") is True:
        plan.warn(
            "TF624",
            f"suspend: true does not keep the job from running: Kueue resumes it when queue {queue} has room",
            hint="remove suspend; to hold the job, remove it from the queue or set the queue's stopPolicy",
            path=("spec", "suspend"),
        )


def tracked_by_hand(plan: Plan) -> None:
    """Tracking marks are for the engine alone to set.

    Why: they tell its own objects from others. Bites: anyone who copies a marked object out of a cluster: the engine
    prunes it, or two Applications fight over it.
    """
    engine = engine_of(plan)
    for tree in plan.objects:
        metadata = table(tree, "metadata")
        for field, key in TRACKING.get(engine, ()):
            if key in table(metadata, field):
                plan.report_object(
                    tree,
                    ("metadata", field, key),
                    "TF625",
                    f"{ENGINES[engine]} tracks its own objects with {key}; a value set by hand confuses it",
                    severity="warning",
                    hint="remove it",
                )


def waits_or_is_skipped(plan: Plan) -> None:
    """A wave set by hand makes a sync wait for training, and a paused object gets no change at all.

    Why: Argo CD waits for the health of every wave but the last, and a job is healthy only once it has finished;
    trainform puts all JobSets into the last wave, 0. Flux neither applies nor prunes an object with `reconcile:
    disabled`. Bites: one job with a wave of 5 waits until all others have finished; a deletion in git changes nothing.
    """
    for tree in plan.objects:
        annotations = table(table(tree, "metadata"), "annotations")
        if found := _wait_or_skip(engine_of(plan), tree["kind"], annotations):
            key, why, hint = found
            at = ("metadata", "annotations", key)
            plan.report_object(tree, at, "TF641", f"{annotations[key]}: {why}", severity="warning", hint=hint)


def _wait_or_skip(engine: str, kind: str, annotations: Tree) -> tuple[str, str, str] | None:
    """The annotation, what the engine does because of it, and what to write instead."""
    wave = str(sync_wave(kind))
    if engine == "argocd" and annotations.get(SYNC_WAVE, wave) != wave:
        why = "Argo CD waits between waves until objects are healthy, jobs until they have finished"
        return SYNC_WAVE, why, f"remove it: trainform puts a {kind} into wave {wave}"
    if engine == "flux" and str(annotations.get(FLUX_RECONCILE, "")).lower() == "disabled":
        why = "Flux ignores this object: changes and deletions in git do not reach the cluster"
        return FLUX_RECONCILE, why, "remove it; to hold the job, write suspend: true, or hold its queue"
    return None


def misspelled_sync_option(plan: Plan) -> None:
    """Argo CD ignores an option that it does not know, and says nothing.

    Why: it compares whole words, upper case and inner blanks included. Bites: `Prune=False` protects nothing.
    """
    for tree in plan.objects if engine_of(plan) == "argocd" else ():
        for option in sync_options(str(table(table(tree, "metadata"), "annotations").get(SYNC_OPTIONS, ""))):
            if not is_sync_option(option):
                plan.report_object(
                    tree,
                    ("metadata", "annotations", SYNC_OPTIONS),
                    "TF642",
                    f"Argo CD ignores {option!r}, which is no option of an object",
                    severity="warning",
                    hint=_meant(option),
                )


def _meant(option: str) -> str:
    """The option that differs only in blanks and case, else all names."""
    name, _, value = ("".join(option.split())).lower().partition("=")
    known = next((each for each in SYNC_OPTION_VALUES if each.lower() == name), "")
    near = f"{known}={value}"
    return f"write {near}" if is_sync_option(near) else f"options: {', '.join(SYNC_OPTION_VALUES)}"


def namespace_of_nobody(plan: Plan) -> None:
    """An undeclared namespace might not exist.

    Why: no rendered object creates a namespace, whose quota and RBAC are not a job's business. Bites: a misspelled
    namespace fails in the sync, after the merge. Reported only if some namespace is declared.
    """
    declared = plan.facts.names("Namespace")
    if not declared or plan.namespace in (*declared, *ALWAYS_THERE):
        return
    of_job = plan.job.metadata.namespace is not None
    plan.warn(
        "TF626",
        f"namespace {plan.namespace} is not declared, and nothing here creates it",
        hint=did_you_mean(plan.namespace, declared) or f"declared: {listed(declared)}",
        source=("trainjob", ("metadata", "namespace")) if of_job else ("environment", ("spec", "namespace")),
    )


def unknown_pod_group(plan: Plan) -> None:
    """A PodGroup can only be applied if its scheduler is installed.

    Why: without its CRD the whole sync fails. Bites: the first gang job in a new cluster. Reported at the Environment,
    in the same words for every job, so that it is shown once.
    """
    if not engine_of(plan) or plan.environment.spec.cluster.schedulers is not None:
        return
    if any(tree["kind"] == "PodGroup" for tree in plan.objects):
        scheduler = plan.gang.scheduler
        plan.report(
            "TF627",
            f"these jobs have PodGroups of {scheduler}, but it is unknown whether that is installed: "
            "if it is not, every sync of them fails",
            severity="info",
            hint=f"if it is installed, write cluster: {{schedulers: [{scheduler}]}}",
            source=("environment", ("spec", "cluster")),
        )

"""Jobs that an engine ends or restarts without being asked."""

from __future__ import annotations

from collections.abc import Iterator

from trainform.plugin import SYNC_OPTIONS, JobSetView, Path, Plan, sync_options, table, tables
from trainform_plugins.lifecycle.source import ENGINES, engine_of

TTL = "ttlSecondsAfterFinished"
FORCING_OPTIONS = ("Force=true", "Replace=true")
QUEUE = "kueue.x-k8s.io/queue-name"
MAX_TIME = "kueue.x-k8s.io/max-exec-time-seconds"
LIMIT: Path = ("spec", "scheduling", "kueue", "maxExecTimeSeconds")
FLUX_FORCE = "kustomize.toolkit.fluxcd.io/force"


def deletes_itself(plan: Plan, jobset: JobSetView) -> None:
    """A finished job that deletes itself is created and trained again, forever.

    Why: a self-healing engine creates whatever is in git but not in the cluster. Bites: anyone who kept a
    `ttlSecondsAfterFinished` from before GitOps (argo-cd 8586, 13851; kubeflow/trainer 2991, 3779).
    """
    engine = engine_of(plan)
    if not engine or "ttl" in plan.environment.spec.gitops.allow:
        return
    for path in _ttl_paths(jobset):
        plan.report_object(
            jobset.tree,
            path,
            "TF620",
            f"the job deletes itself when it finishes, and {ENGINES[engine]} recreates it: it would "
            "train again and again",
            hint=f"remove {TTL}, and delete the job from git when it is done; or allow it: gitops: {{allow: [ttl]}}",
        )


def _ttl_paths(jobset: JobSetView) -> Iterator[Path]:
    if jobset.spec.get(TTL) is not None:
        yield ("spec", TTL)
    for job in jobset.jobs:
        if job.job_spec.get(TTL) is not None:
            yield (*job.path, "template", "spec", TTL)


def kueue_deletes_it(plan: Plan, jobset: JobSetView) -> None:
    """A job that Kueue gives up and deletes is created and trained again, forever.

    Why: with `afterDeactivatedByKueue`, Kueue deletes what it deactivates, JobSet included: jobs that exceed their time
    limit, and those that it evicts or requeues too often. Bites: anyone who limits the time of a job. Source:
    kubernetes-sigs/kueue `pkg/controller/jobframework/reconciler.go`.
    """
    engine = engine_of(plan)
    if not engine:
        return
    spec = plan.environment.spec
    if not spec.cluster.kueue_deletes_deactivated or "ttl" in spec.gitops.allow:
        return
    again = f"{ENGINES[engine]} recreates it: it would train again and again"
    keep = "remove afterDeactivatedByKueue from Kueue's configuration; or allow it: gitops: {allow: [ttl]}"
    if MAX_TIME in jobset.labels:
        message = f"when its time is up, Kueue deletes the job, and {again}"
        hint = f"limit the time with activeDeadlineSeconds instead; or {keep}"
        kueue = spec.scheduling.kueue
        if kueue and str(kueue.max_exec_time_seconds) == jobset.labels[MAX_TIME]:
            plan.report("TF637", message, hint=hint, source=("environment", LIMIT))
        else:
            plan.report_object(jobset.tree, ("metadata", "labels", MAX_TIME), "TF637", message, hint=hint)
    elif QUEUE in jobset.labels:
        plan.report(
            "TF637",
            f"if Kueue gives up a job, for example after too many evictions, it deletes the job, and {again}",
            severity="warning",
            hint=keep,
            source=("environment", ("spec", "cluster", "kueueDeletesDeactivated")),
        )


def claims_die_with_their_job(plan: Plan, jobset: JobSetView) -> None:
    """Under a content hash every edit deletes the JobSet, and with it the volume claims that JobSet created for it.

    Why: they are called `<claim>-<jobset>`, and `whenDeleted` defaults to Delete. Bites: anyone who keeps checkpoints
    there and then edits a label.
    """
    if not plan.destination.hashes_names or "delete-claims" in plan.environment.spec.gitops.allow:
        return
    for index, policy in enumerate(tables(jobset.spec, "volumeClaimPolicies")):
        if table(policy, "retentionPolicy").get("whenDeleted") == "Retain":
            continue
        plan.report_object(
            jobset.tree,
            ("spec", "volumeClaimPolicies", index),
            "TF621",
            "each edit of the job creates new claims and deletes the old ones with all their data",
            hint="write retentionPolicy: {whenDeleted: Retain}; or mount your own PersistentVolumeClaim, which "
            "all versions share; or allow it: gitops: {allow: [delete-claims]}",
        )


def is_made_anew(plan: Plan, jobset: JobSetView) -> None:
    """Force and Replace make an engine delete and recreate a job that it would otherwise fail to update.

    Why: most of a JobSet cannot be updated. Bites: with both, Argo CD restarts finished jobs on every sync (argo-cd
    24005, 5882, 18245).
    """
    annotations = jobset.annotations
    if not annotations:
        return
    options = sync_options(str(annotations.get(SYNC_OPTIONS, "")))
    forcing = [(SYNC_OPTIONS, option) for option in options if option in FORCING_OPTIONS]
    if str(annotations.get(FLUX_FORCE, "")).lower() == "enabled":
        forcing.append((FLUX_FORCE, f"{FLUX_FORCE}: {annotations[FLUX_FORCE]}"))
    for key, what in forcing:
        plan.report_object(
            jobset.tree,
            ("metadata", "annotations", key),
            "TF622",
            f"{what} can delete a running or finished job and restart it from the beginning",
            severity="warning",
            hint="remove it; with gitops: {naming: content-hash}, a changed job becomes a new object",
        )

"""Advice for an Environment."""

from __future__ import annotations

from trainform.api.advice import Advice, spread

_KUEUE = "spec.scheduling.kueue"
_GANG = "spec.scheduling.gang"
_QUEUE = Advice(f"write {_KUEUE}.localQueue", "scheduling: {kueue: {localQueue: team-a}}")
_PRIORITY = Advice(f"write {_KUEUE}.priorityClass", "scheduling: {kueue: {priorityClass: high}}")
_SCHEDULER = Advice(f"write {_GANG}.scheduler", "scheduling: {gang: {scheduler: volcano}}")

ENVIRONMENT = spread(
    {
        "metadata.namespace": Advice(
            "an Environment has no namespace; write spec.namespace for jobs that do not set one"
        ),
        "spec.{base,bases,extends,from,inherits,parent}": Advice(
            "Environments do not inherit from each other: write all settings here"
        ),
        "spec.{env,parameters,templateValues,vars,variables}": Advice(
            "write spec.values", "values: {registry: registry.example.com}"
        ),
        "spec.{overlays,patchesJson6902,patchesStrategicMerge}": Advice(
            "write spec.patches", "patches: [{target: {kind: JobSet}, patch: {metadata: {labels: {team: a}}}}]"
        ),
        "spec.patches[].path": Advice("write the patch, as YAML or as text, in the field patch"),
        "spec.patches[].options": Advice("remove it: patches cannot rename objects here"),
        "spec{,.scheduling}.{localQueue,queue,queueName}": _QUEUE,
        f"{_KUEUE}.{{queue,queueName}}": _QUEUE,
        "spec.kueue": Advice(f"write {_KUEUE}", "scheduling: {kueue: {localQueue: team-a}}"),
        "spec{,.scheduling}.{priorityClass,priorityClassName}": _PRIORITY,
        f"{_KUEUE}.{{priorityClassName,workloadPriorityClass}}": _PRIORITY,
        "spec{,.scheduling}.topology": Advice(
            f"write {_KUEUE}.topology", "scheduling: {kueue: {topology: {required: cloud.provider.com/topology-rack}}}"
        ),
        f"{_KUEUE}.{{maxExecTime,activeDeadlineSeconds}}": Advice(
            f"write {_KUEUE}.maxExecTimeSeconds", "scheduling: {kueue: {maxExecTimeSeconds: 86400}}"
        ),
        f"{_KUEUE}.topology.size": Advice(f"write {_KUEUE}.topology.slice.size"),
        "spec.gang": Advice(f"write {_GANG}", "scheduling: {gang: {scheduler: volcano}}"),
        "spec{,.scheduling}.{scheduler,schedulerName}": _SCHEDULER,
        "spec.podGroupPolicy": _SCHEDULER,
        "spec.schedulers": Advice("write spec.cluster.schedulers", "cluster: {schedulers: [volcano]}"),
        "spec.{kubernetes,cluster.kubernetesVersion,cluster.version}": Advice(
            "write spec.cluster.kubernetes", 'cluster: {kubernetes: "1.36"}'
        ),
        "spec.{clusterFacts,facts,files,cluster.facts}": Advice(
            "write spec.cluster.files", 'cluster: {files: ["cluster/*.yaml"]}'
        ),
        "spec.{argocd,engine,flux}": Advice("write spec.gitops.engine", "gitops: {engine: argocd}"),
        "spec.{allow,layout,naming,pruneProtection}": Advice("write spec.gitops.<field>"),
        "spec.gitops.prune": Advice("write spec.gitops.pruneProtection", "gitops: {pruneProtection: confirm}"),
        "spec.paths": Advice("write spec.jobs.paths", 'jobs: {paths: ["jobs/**"]}'),
        "spec.{selector,jobs.labelSelector,jobs.matchExpressions,jobs.matchLabels}": Advice(
            "write spec.jobs.selector", "jobs: {selector: {matchLabels: {team: a}}}"
        ),
        "spec.{initializer,runtimeRef,trainer}": Advice(
            "this is a TrainJob field: set it in the job, or use spec.runtimePatches for all jobs"
        ),
        "spec.secrets.externalSecret": Advice("write spec.secrets.mode", "secrets: {mode: external-secret}"),
        "spec.secrets.sops": Advice("write spec.secrets.mode", "secrets: {mode: sops, recipients: [age1…]}"),
    }
)

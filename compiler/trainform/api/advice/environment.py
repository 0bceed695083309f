"""Advice for an Environment."""

from __future__ import annotations

from trainform.api.advice import Advice

_KUEUE = "spec.scheduling.kueue"
_GANG = "spec.scheduling.gang"
_INHERITS = Advice("Environments do not inherit from each other: write all settings here")
_VALUES = Advice("write spec.values", "values: {registry: registry.example.com}")
_PATCHES = Advice("write spec.patches", "patches: [{target: {kind: JobSet}, patch: {metadata: {labels: {team: a}}}}]")
_QUEUE = Advice(f"write {_KUEUE}.localQueue", "scheduling: {kueue: {localQueue: team-a}}")
_PRIORITY = Advice(f"write {_KUEUE}.priorityClass", "scheduling: {kueue: {priorityClass: high}}")
_TOPOLOGY = Advice(
    f"write {_KUEUE}.topology",
    "scheduling: {kueue: {topology: {required: cloud.provider.com/topology-rack}}}",
)
_SCHEDULER = Advice(f"write {_GANG}.scheduler", "scheduling: {gang: {scheduler: volcano}}")
_ENGINE = Advice("write spec.gitops.engine", "gitops: {engine: argocd}")
_KUBERNETES = Advice("write spec.cluster.kubernetes", 'cluster: {kubernetes: "1.36"}')
_FACTS = Advice("write spec.cluster.files", 'cluster: {files: ["cluster/*.yaml"]}')
_SELECTOR = Advice("write spec.jobs.selector", "jobs: {selector: {matchLabels: {team: a}}}")
_RUN_TIME = Advice(f"write {_KUEUE}.maxExecTimeSeconds", "scheduling: {kueue: {maxExecTimeSeconds: 86400}}")

ENVIRONMENT: dict[str, Advice] = {
    "metadata.namespace": Advice("an Environment has no namespace; write spec.namespace for jobs that do not set one"),
    **{f"spec.{field}": _INHERITS for field in ("base", "bases", "extends", "from", "inherits", "parent")},
    **{f"spec.{field}": _VALUES for field in ("env", "parameters", "templateValues", "vars", "variables")},
    **{f"spec.{field}": _PATCHES for field in ("overlays", "patchesJson6902", "patchesStrategicMerge")},
    "spec.patches[].path": Advice("write the patch, as YAML or as text, in the field patch"),
    "spec.patches[].options": Advice("remove it: patches cannot rename objects here"),
    **{f"spec.{field}": _QUEUE for field in ("localQueue", "queue", "queueName")},
    **{f"spec.scheduling.{field}": _QUEUE for field in ("localQueue", "queue", "queueName")},
    **{f"{_KUEUE}.{field}": _QUEUE for field in ("queue", "queueName")},
    "spec.kueue": Advice(f"write {_KUEUE}", "scheduling: {kueue: {localQueue: team-a}}"),
    **{f"{where}.priorityClass": _PRIORITY for where in ("spec", "spec.scheduling")},
    **{f"{where}.priorityClassName": _PRIORITY for where in ("spec", "spec.scheduling", _KUEUE)},
    f"{_KUEUE}.workloadPriorityClass": _PRIORITY,
    **{f"{where}.topology": _TOPOLOGY for where in ("spec", "spec.scheduling")},
    f"{_KUEUE}.maxExecTime": _RUN_TIME,
    f"{_KUEUE}.activeDeadlineSeconds": _RUN_TIME,
    f"{_KUEUE}.topology.size": Advice(f"write {_KUEUE}.topology.slice.size"),
    "spec.gang": Advice(f"write {_GANG}", "scheduling: {gang: {scheduler: volcano}}"),
    **{f"spec.{field}": _SCHEDULER for field in ("podGroupPolicy", "scheduler", "schedulerName")},
    **{f"spec.scheduling.{field}": _SCHEDULER for field in ("scheduler", "schedulerName")},
    "spec.schedulers": Advice("write spec.cluster.schedulers", "cluster: {schedulers: [volcano]}"),
    "spec.kubernetes": _KUBERNETES,
    **{f"spec.cluster.{field}": _KUBERNETES for field in ("kubernetesVersion", "version")},
    **{f"spec.{field}": _FACTS for field in ("clusterFacts", "facts", "files")},
    "spec.cluster.facts": _FACTS,
    **{f"spec.{field}": _ENGINE for field in ("argocd", "engine", "flux")},
    **{
        f"spec.{field}": Advice(f"write spec.gitops.{field}")
        for field in ("allow", "layout", "naming", "pruneProtection")
    },
    "spec.gitops.prune": Advice("write spec.gitops.pruneProtection", "gitops: {pruneProtection: confirm}"),
    "spec.paths": Advice("write spec.jobs.paths", 'jobs: {paths: ["jobs/**"]}'),
    "spec.selector": _SELECTOR,
    **{f"spec.jobs.{field}": _SELECTOR for field in ("labelSelector", "matchExpressions", "matchLabels")},
    **{
        f"spec.{field}": Advice("this is a TrainJob field: set it in the job, or use spec.runtimePatches for all jobs")
        for field in ("initializer", "runtimeRef", "trainer")
    },
    "spec.secrets.externalSecret": Advice("write spec.secrets.mode", "secrets: {mode: external-secret}"),
    "spec.secrets.sops": Advice("write spec.secrets.mode", "secrets: {mode: sops, recipients: [age1…]}"),
}

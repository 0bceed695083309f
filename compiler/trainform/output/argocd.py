"""The Argo CD bootstrap: a project, an ApplicationSet per environment, and health checks. Field names are those of
`argoproj.io/v1alpha1` (AppProject, ApplicationSet and its Application template) in Argo CD 2.14 to 3.3, and of
`argocd-cm`'s keys from the operator manual's resource health page. docs/gitops.md explains each setting."""

from __future__ import annotations

from collections.abc import Mapping

from trainform.k8s.tree import Tree
from trainform.output.emitter import emit
from trainform.output.kustomization import kustomization_text

NAMESPACE = "argocd"
PROJECT = "trainform"
REPOSITORY = "https://git.example.com/ml/training-jobs.git"
"""Placeholder for the address of the user's repository."""

CLUSTER = "https://kubernetes.default.svc"

HEALTH_KINDS = (
    "jobset.x-k8s.io_JobSet",
    "scheduling.x-k8s.io_PodGroup",
    "scheduling.volcano.sh_PodGroup",
    "kueue.x-k8s.io_Workload",
)
"""Group and kind, as spelled in `argocd-cm`; the Lua of each is in `health/`, in a file of that name."""

RENDERED_KINDS = (
    ("", "ConfigMap"),
    ("", "ServiceAccount"),
    ("rbac.authorization.k8s.io", "Role"),
    ("rbac.authorization.k8s.io", "RoleBinding"),
    ("jobset.x-k8s.io", "JobSet"),
    ("scheduling.x-k8s.io", "PodGroup"),
    ("scheduling.volcano.sh", "PodGroup"),
    ("external-secrets.io", "ExternalSecret"),
    ("generators.external-secrets.io", "SSHKey"),
    ("bitnami.com", "SealedSecret"),
)
"""Group and kind of everything that trainform renders for Argo CD."""

CHILD_KINDS = (
    ("", "PersistentVolumeClaim"),
    ("", "Pod"),
    ("", "Service"),
    ("batch", "Job"),
    ("", "Endpoints"),
    ("discovery.k8s.io", "EndpointSlice"),
    ("kueue.x-k8s.io", "Workload"),
    ("autoscaling.x-k8s.io", "ProvisioningRequest"),
    ("scheduling.run.ai", "PodGroup"),
)
"""Group and kind of what controllers create for a job. A project's whitelist also filters the resource tree, so without
these Argo CD shows neither pods nor their logs (argo-cd#28564)."""

SYNC_OPTIONS = [
    "ApplyOutOfSyncOnly=true",
    "RespectIgnoreDifferences=true",
    "ServerSideApply=true",
    "SkipDryRunOnMissingResource=true",
]

PLAIN_FOLDERS = {"recurse": True, "exclude": "{kustomization.yaml,*/kustomization.yaml}"}
"""How Argo CD reads a namespace: every manifest below its folder, without kustomize, whose time is quadratic. Argo CD's
`*` also matches `/`. The exclusion is for `gitops.kustomization`, and for the lists of earlier versions."""

RETRY = {"limit": 5, "backoff": {"duration": "10s", "factor": 2, "maxDuration": "3m"}}

QUEUED = 'select(.metadata.labels["kueue.x-k8s.io/queue-name"])'
POD_TEMPLATE = f"{QUEUED}.spec.replicatedJobs[]?.template.spec.template"

KUEUE_CHANGES = [
    f"{QUEUED}.spec.suspend",
    f"{POD_TEMPLATE}.metadata.labels",
    f"{POD_TEMPLATE}.metadata.annotations",
    f"{POD_TEMPLATE}.spec.nodeSelector",
    f"{POD_TEMPLATE}.spec.tolerations",
    f"{POD_TEMPLATE}.spec.schedulingGates",
    f"({POD_TEMPLATE}.metadata | select(. == {{}}))",
]
"""What Kueue changes in a JobSet, as jq paths that Argo CD deletes from both sides before comparing. Only in a JobSet
with a queue: in any other one, git decides these fields, and an ignored field would never be applied. The last one
removes the `metadata: {}` that the second and third may leave behind if git has no metadata."""


ADDED_BY_ADMISSION = [".spec.volumeClaimPolicies[]?.templates[]?.status"]
"""What JobSet's webhook adds (`status: {}`) inside of a list that is compared as a whole. It also adds `resources: {}`
and `metadata: {}`, but in lists that are merged by key, where what git does not have is no difference."""


IGNORED = [*KUEUE_CHANGES, *ADDED_BY_ADMISSION]


def files(environment: str, health: Mapping[str, str], repository: str = "", prefix: str = "") -> dict[str, str]:
    """The bootstrap's texts by their names in `gitops/argocd/`; `health` is Lua by `HEALTH_KINDS`, `repository` the
    address of the git repository, if known, and `prefix` leads from its top to the folder of `trainform.yaml`."""
    address = repository or REPOSITORY
    resources = ["project.yaml", f"trainform-{environment}.yaml"]
    return {
        "kustomization.yaml": _KUSTOMIZATION_HEAD + kustomization_text(resources),
        "project.yaml": _project_head(repository) + emit(project(address)),
        f"trainform-{environment}.yaml": _APPLICATION_SET_HEAD + emit(application_set(environment, address, prefix)),
        "argocd-cm.yaml": _HEALTH_HEAD + emit(health_config_map(health)),
    }


def project(address: str = REPOSITORY) -> Tree:
    """An AppProject that admits what trainform renders and shows what belongs to it; no cluster-scoped objects."""
    kinds = (*RENDERED_KINDS, *CHILD_KINDS)
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "AppProject",
        "metadata": {"name": PROJECT, "namespace": NAMESPACE},
        "spec": {
            "description": "Training jobs that trainform rendered",
            "sourceRepos": [address],
            "destinations": [{"server": CLUSTER, "namespace": "*"}],
            "namespaceResourceWhitelist": [{"group": group, "kind": kind} for group, kind in kinds],
        },
    }


def application_set(environment: str, address: str = REPOSITORY, prefix: str = "") -> Tree:
    """An ApplicationSet that creates an Application for each folder `rendered/<environment>/<namespace>`."""
    directories = [{"path": f"{prefix}rendered/{environment}/*"}]
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "ApplicationSet",
        "metadata": {"name": f"trainform-{environment}", "namespace": NAMESPACE},
        "spec": {
            "goTemplate": True,
            "goTemplateOptions": ["missingkey=error"],
            "generators": [{"git": {"repoURL": address, "revision": "HEAD", "directories": directories}}],
            "syncPolicy": {"applicationsSync": "create-update", "preserveResourcesOnDeletion": True},
            "template": {
                "metadata": {"name": f"{environment}-{{{{ .path.basename }}}}"},
                "spec": _application(address),
            },
        },
    }


def _application(address: str) -> Tree:
    return {
        "project": PROJECT,
        "source": {
            "repoURL": address,
            "targetRevision": "HEAD",
            "path": "{{ .path.path }}",
            "directory": PLAIN_FOLDERS,
        },
        "destination": {"server": CLUSTER, "namespace": "{{ .path.basename }}"},
        "syncPolicy": {
            "automated": {"prune": True, "selfHeal": True, "allowEmpty": True},
            "syncOptions": SYNC_OPTIONS,
            "retry": RETRY,
        },
        "ignoreDifferences": [
            {"group": "jobset.x-k8s.io", "kind": "JobSet", "jqPathExpressions": IGNORED},
        ],
    }


def health_config_map(health: Mapping[str, str]) -> Tree:
    """A patch of Argo CD's own ConfigMap: one key per kind; everything else is kept."""
    keys = {f"resource.customizations.health.{kind}": health[kind] for kind in HEALTH_KINDS}
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "argocd-cm", "namespace": NAMESPACE},
        "data": keys,
    }


_KUSTOMIZATION_HEAD = "# argocd-cm.yaml is a patch of Argo CD's own ConfigMap, and so no resource here.\n"

_WHAT_TO_WRITE = {
    False: "Write the address of your repository into sourceRepos, here and in the\n"
    "# ApplicationSet, and the namespaces of your teams into destinations.",
    True: "Write the namespaces of your teams into destinations.",
}


def _project_head(repository: str) -> str:
    return f"""\
# What the Applications of this repository may do. {_WHAT_TO_WRITE[bool(repository)]}
#
# Argo CD shows only objects of the kinds in namespaceResourceWhitelist. So it lists what trainform renders, and
# what controllers create for a job: Jobs, Pods, Services, claims, Workloads. Remove a kind to hide it.
"""


_APPLICATION_SET_HEAD = """\
# One Application for each namespace of this environment. For one per job, append "/*" to the path of the generator
# and take "{{ index .path.segments 2 }}" for the namespace, and it and the job for the name; end a job that is removed
# from git with `argocd app delete --cascade` then, as its folder goes with it.
#
# Nothing here deletes an Application, and deleting an Application or this set leaves its jobs running: jobs end
# when they are removed from git, and in no other way. When the last job of a namespace goes, its folder stays, with
# nothing but a .gitkeep, and `allowEmpty` lets Argo CD prune that job. To give up the namespace for good, then remove
# its folder from git and run `argocd app delete <environment>-<namespace>`.
#
# Namespaces are not created: their quota, queues and access rights come from elsewhere. Needs Argo CD 2.14.
"""

_HEALTH_HEAD = """\
# How Argo CD tells the health of JobSets, PodGroups and Kueue Workloads. Patch it into Argo CD's ConfigMap:
#
#   kubectl --namespace argocd patch configmap argocd-cm --patch-file gitops/argocd/argocd-cm.yaml
#
# or list it under `patches` in the kustomization that installs Argo CD.
"""

"""Environment: everything about a destination that a job should not know.

A kind of ours; environments inherit nothing from each other. The text below each field is its reference.
"""

from typing import Annotated, Any, Literal

from pydantic import Field

from trainform.api.base import Model, absent
from trainform.api.kinds import ENVIRONMENT_VERSION
from trainform.api.scheduling import Scheduler, Scheduling
from trainform.api.selectors import LabelSelector
from trainform.api.trainjob import RuntimePatch
from trainform.k8s.tree import Tree
from trainform.k8s.versions import Versions, parse_version


class EnvironmentMetadata(Model):
    """The head of an Environment, which has no namespace: it never reaches a cluster."""

    name: str
    """Its name, a label of RFC 1123: also the folder below `environments/` and `rendered/`.
    Example: `prod-eu`."""
    labels: Annotated[dict[str, str], absent({})] = Field(default_factory=dict)
    """Labels of the Environment itself; nothing rendered gets them. Default: none."""
    annotations: Annotated[dict[str, str], absent({})] = Field(default_factory=dict)
    """Free text for people. Default: none."""


class Jobs(Model):
    """Which TrainJobs go to this environment: those that meet both conditions."""

    paths: Annotated[list[str], absent(["jobs/**"])] = Field(default_factory=lambda: ["jobs/**"])
    """Patterns of their files, from the root of the repository; one must fit. `*` stops at a slash, `**` does
    not. Default: `["jobs/**"]`. Example: `["jobs/*/prod/**"]`."""
    selector: Annotated[LabelSelector, absent({})] = Field(default_factory=LabelSelector.model_construct)
    """By their labels. Default: all. Example: `{matchLabels: {team: vision}}`."""


class ExistingObjects(Model):
    """All objects of one kind in a namespace, by name. Pods that refer to another one are an error."""

    kind: Literal["ServiceAccount", "Secret", "ConfigMap", "PersistentVolumeClaim"]
    """The kind. Example: `Secret`."""
    namespace: str
    """The namespace. Example: `ml`."""
    names: list[str]
    """The names of all that exist there, or will exist before the jobs do. Example: `[registry, wandb]`."""


class Cluster(Model):
    """What is known of the cluster. Unknown is never wrong: a check that needs it is left out."""

    kubernetes: str | None = None
    """Version of Kubernetes, in quotes. Default: unknown. Example: `"1.36"`."""
    jobset: str | None = None
    """Version of JobSet, in quotes. Default: unknown. Example: `"0.12"`."""
    kueue: str | None = None
    """Version of Kueue, in quotes. Default: unknown. Example: `"0.17"`."""
    kueue_deletes_deactivated: bool | None = None
    """Whether Kueue deletes the jobs that it gives up: `afterDeactivatedByKueue` in its configuration, below
    `objectRetentionPolicies.workloads`. Default: unknown. Example: `true`."""
    schedulers: list[Scheduler] | None = None
    """The gang schedulers that are installed; `[]` says that none is. Default: unknown. Example: `[kai]`."""
    files: list[str] | None = None
    """Patterns of files with cluster facts (PriorityClass, ClusterQueue and so on), from the Environment's
    folder. Default: every other YAML file in it. Example: `["cluster/*.yaml"]`."""
    objects: Annotated[list[ExistingObjects], absent([])] = Field(default_factory=list)
    """Objects that pods refer to: once those of a kind and namespace are listed, the list is complete.
    Default: unknown. Example: `[{kind: Secret, namespace: ml, names: [registry]}]`."""

    @property
    def versions(self) -> Versions:
        """The versions, parsed; an invalid one is unknown, and reported by the rules."""
        return Versions(*(parse_version(text or "") for text in (self.kubernetes, self.jobset, self.kueue)))

    def names_of(self, kind: str, namespace: str) -> list[str] | None:
        """The names of all objects of a kind in a namespace; None if they are not listed."""
        lists = [each.names for each in self.objects if (each.kind, each.namespace) == (kind, namespace)]
        return sorted(name for names in lists for name in names) if lists else None


SecretsMode = Literal["reference", "external-secret", "sealed-secret", "sops"]


class SecretHandling(Model):
    """Where the key pairs of MPI and Flux jobs come from. No mode writes a private key in the clear."""

    mode: Annotated[SecretsMode, absent("reference")] = "reference"
    """`reference`: the Secret is there already. `external-secret`: External Secrets generates it.
    `sealed-secret` and `sops`: `trainform keys` makes it, encrypted. Default: `reference`."""
    store: Tree | None = None
    """The store of External Secrets, an object reference. Default: none, keys are generated in the cluster.
    Example: `{name: vault, kind: ClusterSecretStore}`."""
    certificate: str | None = None
    """The certificate of the cluster's Sealed Secrets controller, a PEM file in the Environment's folder;
    needed by `sealed-secret`. Default: none. Example: `keys/cert.pem`."""
    recipients: Annotated[list[str], absent([])] = Field(default_factory=list)
    """Public age keys that may decrypt; `sops` needs at least one. Default: none. Example: `[age1…]`."""


class PatchTarget(Model):
    """Which rendered objects a patch is meant for, as in kustomize: what is stated must hold.

    All but the selectors are regular expressions (RE2) for the whole value.
    """

    group: str | None = None
    """API group. Default: any. Example: `jobset.x-k8s.io`."""
    version: str | None = None
    """API version, without its group. Default: any. Example: `v1alpha2`."""
    kind: str | None = None
    """Kind. Default: any. Example: `JobSet`."""
    name: str | None = None
    """Name. Default: any. Example: `llm-.*`."""
    namespace: str | None = None
    """Namespace. Default: any. Example: `ml-prod`."""
    label_selector: str | None = None
    """Condition on labels, as for `kubectl -l`. Default: none. Example: `team=vision,stage notin (draft)`."""
    annotation_selector: str | None = None
    """The same on annotations. Default: none. Example: `example.com/patched!=true`."""


class FinalPatch(Model):
    """A change of rendered objects, after everything else."""

    target: PatchTarget | None = None
    """Which objects. Default: the one whose apiVersion, kind and name the strategic merge patch states.
    Example: `{kind: JobSet}`."""
    patch: Any
    """A strategic merge patch (a mapping, `$patch` directives included), JSON 6902 operations (a list), or
    text that holds either. Example: `{metadata: {labels: {cost-centre: "42"}}}`."""


class ImageChange(Model):
    """Another name, tag or digest for an image, in the words of kustomize's `images`."""

    name: str
    """The image as the rendered pods have it, with registry and path, without tag or digest.
    Example: `pytorch/pytorch`."""
    new_name: str | None = None
    """Its name at this destination, such as a mirror's. Default: the same.
    Example: `registry.example.com/pytorch/pytorch`."""
    new_tag: str | None = None
    """Its tag, in quotes if it looks like a number. It replaces tag and digest. Default: both stay.
    Example: `"2.13.0-cuda13.0-cudnn9-runtime"`."""
    digest: str | None = None
    """Its digest. It replaces tag and digest; with `newTag`, the image has both. Default: both stay.
    Example: `sha256:…`."""


class GitOps(Model):
    """How the rendered objects reach the cluster, and what follows for their life."""

    engine: Annotated[Literal["none", "argocd", "flux"], absent("none")] = "none"
    """Who applies them; errors and waves follow from it. Default: `none`."""
    naming: Annotated[Literal["stable", "content-hash"], absent("stable")] = "stable"
    """`stable`: objects are called as the job. `content-hash`: `<job>-<hash>`, so that a changed job is a new
    object instead of an update that JobSet refuses. Default: `stable`."""
    layout: Annotated[Literal["per-object", "per-job"], absent("per-object")] = "per-object"
    """One file for each object, or `manifests.yaml` for each job. Default: `per-object`."""
    kustomization: Annotated[bool, absent(False)] = False
    """Whether each job's folder gets a `kustomization.yaml`, for `kubectl kustomize`. Engines need none. Default:
    `false`."""
    prune_protection: Annotated[Literal["none", "confirm"], absent("none")] = "none"
    """`confirm`: Argo CD asks before it deletes. Default: `none`."""
    allow: Annotated[list[Literal["ttl", "delete-claims"]], absent([])] = Field(default_factory=list)
    """Exceptions to errors about the life of jobs. `ttl`: the cluster may delete jobs that have ended, though an
    engine makes them anew. `delete-claims`: volume claims may go with their job. Default: none."""


class Prices(Model):
    """What the cluster costs. Nothing that is rendered depends on it."""

    currency: str
    """The currency, in capital letters. Amounts in different currencies are never added up. Example: `USD`."""
    resources: Annotated[dict[str, str], absent({})] = Field(default_factory=dict)
    """The price of a resource for an hour, a decimal number in quotes: of a core of `cpu`, of a GiB of memory, storage
    or huge pages, of one of anything else. What has no price costs nothing. Default: none.
    Example: `{nvidia.com/gpu: "2.50", cpu: "0.03"}`."""
    flavors: Annotated[dict[str, dict[str, str]], absent({})] = Field(default_factory=dict)
    """What costs something else in a ResourceFlavor of Kueue, by the flavor's name. Default: nothing.
    Example: `{h100: {nvidia.com/gpu: "4.10"}, spot: {nvidia.com/gpu: "0.90"}}`."""


class EnvironmentSpec(Model):
    """What holds at this destination."""

    jobs: Annotated[Jobs, absent({})] = Field(default_factory=Jobs.model_construct)
    """The jobs that go here. Default: every job below `jobs/`."""
    namespace: str | None = None
    """The namespace of jobs that name none. Default: `default`. Example: `ml-prod`."""
    values: Annotated[Tree, absent({})] = Field(default_factory=dict)
    """Whatever `.yaml.j2` templates need, as `env`. Default: nothing.
    Example: `{registry: registry.example.com}`, written `{{ env.registry }}` in a template."""
    cluster: Annotated[Cluster, absent({})] = Field(default_factory=Cluster.model_construct)
    """What is known of the cluster. Default: nothing. Example: `{kubernetes: "1.36"}`."""
    scheduling: Annotated[Scheduling, absent({})] = Field(default_factory=Scheduling.model_construct)
    """Queues, gangs and topology. Default: what the runtimes say.
    Example: `{kueue: {localQueue: team-a}}`."""
    secrets: Annotated[SecretHandling, absent({})] = Field(default_factory=SecretHandling.model_construct)
    """Where keys come from. Default: from Secrets that exist. Example: `{mode: external-secret}`."""
    runtime_patches: Annotated[list[RuntimePatch], absent([])] = Field(default_factory=list, max_length=16)
    """`runtimePatches` for every job, as in a TrainJob and before its own. Default: none."""
    patches: Annotated[list[FinalPatch], absent([])] = Field(default_factory=list)
    """Changes of rendered objects, in their order. Default: none."""
    images: Annotated[list[ImageChange], absent([])] = Field(default_factory=list)
    """Names, tags and digests of images, in all containers and after `patches`. Default: none.
    Example: `[{name: pytorch/pytorch, newName: registry.example.com/pytorch}]`."""
    plugins: Annotated[dict[str, Tree], absent({})] = Field(default_factory=dict)
    """Settings of plugins from other packages, by the plugin's name. Default: each plugin's own.
    Example: `{cost-center: {prefix: ml-}}`."""
    gitops: Annotated[GitOps, absent({})] = Field(default_factory=GitOps.model_construct)
    """How objects reach the cluster. Default: by hand. Example: `{engine: argocd, naming: content-hash}`."""
    prices: Prices | None = None
    """What resources cost. `diff`, `report` and `capacity` then tell the cost of each job; jobs never fall behind for
    it. Default: unknown. Example: `{currency: USD, resources: {nvidia.com/gpu: "2.50"}}`."""


class Environment(Model):
    """A destination of jobs. `kinds` has checked the API version."""

    api_version: Any = None
    kind: str
    metadata: EnvironmentMetadata
    """Name, labels and annotations."""
    spec: Annotated[EnvironmentSpec, absent({})] = Field(default_factory=EnvironmentSpec.model_construct)
    """What holds at this destination. Default: every default below."""

    @property
    def name(self) -> str:
        return self.metadata.name


DEFAULT_ENVIRONMENT = Environment.model_construct(
    api_version=ENVIRONMENT_VERSION,
    kind="Environment",
    metadata=EnvironmentMetadata.model_construct(name="default"),
)
"""What holds where there is no Environment: a job compiles as the controller would build it.

Constructed, not validated: most runs need no more of this kind, and its validators take 50 ms to build.
"""

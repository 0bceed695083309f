"""The JSON documents that commands print with `--format json`, each by its kind. A later version may add fields."""

from typing import Any, Literal, NotRequired, TypedDict

from trainform.diagnostics import Severity
from trainform.review.capacity.one_job import Verdict
from trainform.review.diff.update_rules import Change
from trainform.review.explain.owner import OwnerKind
from trainform.review.live.dry_run import Effect
from trainform.review.live.model import LiveState
from trainform.workspace.verify.verdict import State


class JobName(TypedDict):
    """A job of an environment."""

    environment: str
    """The environment, by its name."""
    namespace: str
    """The namespace of the job."""
    name: str
    """The name of the TrainJob."""


class Finding(TypedDict):
    """A problem, its cause, and what to write instead."""

    code: str
    """Its code, which `trainform explain CODE` explains. Example: `TF106`."""
    severity: Severity
    """How bad it is: with an error, nothing is rendered."""
    message: str
    """What is wrong."""
    field: str
    """The field in the source document; empty for a whole document. Example: `spec.trainer.env[0].name`."""
    file: str | None
    """The file, from the root of the repository. Example: `jobs/llm.yaml`."""
    line: int | None
    """The line, counted from 1."""
    column: int | None
    """The column, counted from 1."""
    hint: str
    """What to write instead; empty if there is nothing to say."""
    plugin: str | None
    """The plugin that found it."""
    object: str | None
    """The rendered object that shows it, if the source does not. Example: `JobSet/llm`."""
    objectField: str | None
    """The field of that object."""
    jobs: list[JobName]
    """The jobs that it concerns, where their own documents do not have it."""


class Suppression(TypedDict):
    """Why a finding is not shown, as SARIF says it."""

    kind: Literal["inSource", "external"]
    """By a comment in the source, or by the baseline."""
    justification: NotRequired[str]
    """The reason that the comment gives."""


class SuppressedFinding(Finding):
    """A finding that is not shown."""

    suppression: Suppression
    """Why it is not shown."""


class ResultOfJob(TypedDict):
    """One job as it is rendered."""

    name: str
    """The name of the TrainJob."""
    namespace: str
    """Its namespace."""
    environment: str
    """The environment, by its name."""
    objects: list[dict[str, Any]]
    """The manifests; none if the job has an error."""
    diagnostics: list[Finding]
    """The problems of the job."""
    deviations: list[str]
    """Where the manifests differ from the controller's on purpose. Example: `[D01]`."""


class RenderResult(TypedDict):
    """What `render` and `upgrade` made of each job."""

    jobs: list[ResultOfJob]
    """The jobs that were compiled."""
    diagnostics: list[Finding]
    """The problems of the repository or stream as a whole."""


class ValidateResult(TypedDict):
    """What `validate` found."""

    diagnostics: list[Finding]
    """Every problem, in the order of files and lines."""
    suppressed: NotRequired[list[SuppressedFinding]]
    """Findings that comments or the baseline silence, if there are any."""


class PinProblem(TypedDict):
    """A pin that nothing accounts for."""

    pin: str
    """The pin. Example: `runtime`."""
    file: str
    """The lockfile."""
    line: int
    """Its line."""
    message: str
    """What is wrong with it."""


class CheckedJob(JobName):
    """A job, or files that belong to none: then the name is empty."""

    state: State
    """Whether what is committed is what its inputs compile to."""
    files: list[str]
    """The files that are not as they should be."""
    pins: list[PinProblem]
    """What is wrong with its lockfile, if `--base` is given."""


class CheckResult(TypedDict):
    """What `check` says of each job."""

    jobs: list[CheckedJob]
    """The jobs, and files that belong to none."""


class AmountRange(TypedDict):
    """An amount of money, exactly, as text: it depends on where the job runs."""

    min: str
    """The least. Example: `"32.50"`."""
    max: str
    """The most. Example: `"64"`."""


class JobCost(TypedDict):
    """What a job costs."""

    currency: str
    """The currency. Example: `USD`."""
    perHour: AmountRange
    """For an hour, while all its pods run."""
    perRunAtMost: NotRequired[str]
    """From its start to its deadline, at most; absent if nothing bounds it. Example: `"768"`."""


class CostChange(TypedDict):
    """What a job costs before and after a change; null if it does not exist then."""

    before: JobCost | None
    """Before the change."""
    after: JobCost | None
    """After it."""


class HighlightedValue(TypedDict):
    """A value that a reviewer must see."""

    object: str
    """The rendered object. Example: `JobSet/llm`."""
    path: str
    """The field."""
    label: str
    """What it is, for people. Example: `image`."""
    before: Any
    """Its value before; null if it is new."""
    after: Any
    """Its value after; null if it is gone."""
    privilege: bool
    """Whether it gives the job rights that training rarely needs."""


class ChangedField(TypedDict):
    """A field that changes."""

    object: str
    """The rendered object, or what fell behind. Example: `JobSet/llm`."""
    field: str
    """The field; empty for a whole object."""
    before: Any
    """Its value before; null if it is new."""
    after: Any
    """Its value after; null if it is gone."""
    immutable: bool
    """Whether the API never accepts this change."""
    inherited: bool
    """Whether it comes from the runtime, Environment or compiler, not from the TrainJob."""


class ChangedJob(JobName):
    """A job that changes."""

    source: str
    """The file of its TrainJob."""
    change: Change
    """What the change does to the job."""
    highlights: list[HighlightedValue]
    """What a reviewer must see, privileges first."""
    reasons: list[ChangedField]
    """The fields that change."""
    cost: NotRequired[CostChange]
    """What it costs, in an environment with prices."""


class RequestSum(TypedDict):
    """What some jobs request together."""

    jobs: int
    """How many jobs."""
    pods: int
    """How many pods."""
    resources: dict[str, str]
    """Resources, as quantities. Example: `{nvidia.com/gpu: "64"}`."""


class QueueBalance(TypedDict):
    """The jobs of one queue."""

    before: RequestSum
    """Before the change."""
    after: RequestSum
    """After it."""


class EnvironmentCost(TypedDict):
    """What all jobs of an environment cost for an hour, by today's prices."""

    currency: str
    """The currency. Example: `USD`."""
    before: AmountRange
    """Before the change."""
    after: AmountRange
    """After it."""
    difference: AmountRange
    """The change."""


class DiffResult(TypedDict):
    """What a change of the repository does, as `diff` tells."""

    jobs: list[ChangedJob]
    """The jobs that change, the most severe change first."""
    totals: dict[str, dict[str, QueueBalance]]
    """What jobs request, by environment and queue; the queue is empty for jobs without one."""
    notes: list[str]
    """What changes besides jobs."""
    costs: NotRequired[dict[str, EnvironmentCost]]
    """What jobs cost, by environment, where there are prices."""


class LiveField(TypedDict):
    """A field that a dry run would change."""

    field: str
    """The field."""
    before: Any
    """Its value in the cluster; null if there is none."""
    after: Any
    """Its value afterwards; null if there is none."""


class DryRunResult(TypedDict):
    """What the API server would do with one rendered object."""

    file: str
    """The file of the object."""
    kind: str
    """Its kind. Example: `JobSet`."""
    namespace: str
    """Its namespace."""
    name: str
    """Its name."""
    effect: Effect
    """What would happen."""
    message: str
    """Why it would be refused, or was skipped; else empty."""
    fields: list[LiveField]
    """The fields that would change."""


class LiveDiffResult(TypedDict):
    """What a cluster would do with the rendered objects of an environment, as `diff --live` tells."""

    environment: str
    """The environment."""
    context: str
    """The context of the kubeconfig; empty inside of a cluster."""
    server: str
    """The address of the API server."""
    objects: list[DryRunResult]
    """The objects, in the order of their files."""


class DriftedField(TypedDict):
    """A field that is not as git has it."""

    field: str
    """The field."""
    git: Any
    """Its value in git; null if there is none."""
    live: Any
    """Its value in the cluster; null if there is none."""


class FailedContainer(TypedDict):
    """A pod that failed, by its container."""

    name: str
    """The pod."""
    container: str
    """The container."""
    exitCode: int | None
    """Its exit code; null if it never ran."""
    reason: str
    """Kubernetes' reason. Example: `OOMKilled`."""
    log: list[str]
    """The last lines of its log."""


class JobStatus(TypedDict):
    """What became of a job."""

    namespace: str
    """Its namespace."""
    name: str
    """The name of the TrainJob; that of the JobSet for an orphan."""
    jobset: str
    """The name of the JobSet."""
    state: LiveState
    """What the job does."""
    reason: str
    """More about the state; may be empty."""
    drift: list[DriftedField]
    """The fields that are not as git has them."""
    pod: FailedContainer | None
    """The pod that failed, if one did."""


class StatusResult(TypedDict):
    """What git says against what runs, as `status` tells."""

    environment: str
    """The environment."""
    context: str
    """The context of the kubeconfig; empty inside of a cluster."""
    server: str
    """The address of the API server."""
    jobs: list[JobStatus]
    """The jobs."""
    notes: list[str]
    """What could not be asked."""
    unreadable: list[str]
    """Jobs whose manifest is missing or not valid."""


class QuotaUse(TypedDict):
    """A quota of a ClusterQueue, as quantities."""

    nominal: str
    """The quota itself. Example: `"64"`."""
    borrowable: str
    """What cohorts lend."""
    asked: str
    """What all jobs request of it."""


class JudgedJob(TypedDict):
    """Whether Kueue would ever admit a job."""

    namespace: str
    """Its namespace."""
    name: str
    """Its name."""
    queue: str
    """Its LocalQueue."""
    verdict: Verdict
    """The answer: `waits` if it only fits without the other jobs, `unknown` if a fact is not declared."""
    reason: str
    """Why; empty for a job that fits."""
    pods: int
    """How many pods it requests."""
    resources: dict[str, str]
    """The resources that it requests, as quantities. Example: `{nvidia.com/gpu: "64"}`."""
    cost: NotRequired[JobCost]
    """What it costs, in an environment with prices."""


class EnvironmentCapacity(TypedDict):
    """The queues and jobs of an environment."""

    queues: dict[str, dict[str, QuotaUse]]
    """The ClusterQueues, each with its quotas by `flavor/resource`."""
    jobs: list[JudgedJob]
    """The jobs."""
    perHour: NotRequired[dict[str, AmountRange]]
    """What all jobs cost for an hour, by currency, where there are prices."""


class CapacityResult(TypedDict):
    """Whether Kueue would ever admit each job, as `capacity` tells."""

    environments: dict[str, EnvironmentCapacity]
    """The environments, by name."""


class ExplainedJob(JobName):
    """Whose fields are explained."""

    queue: str
    """Its queue; may be empty."""
    pods: int
    """How many pods it requests."""
    resources: dict[str, str]
    """The resources that it requests, as quantities."""
    behind: list[str]
    """Why it is explained as it was rendered; empty if today's inputs give the same."""


class FieldOwner(TypedDict):
    """Who set a field."""

    kind: OwnerKind
    """What it is."""
    name: str
    """Its name. Example: `torch`."""
    stage: str | None
    """The stage of a plugin."""
    file: str | None
    """The file that has the value, if one has."""
    line: int | None
    """The line in it."""


class ExplainedField(TypedDict):
    """A field of a rendered object, and who set it."""

    environment: NotRequired[str]
    """The environment, if several jobs are explained."""
    namespace: NotRequired[str]
    """The namespace of the job, if several are explained."""
    object: str
    """The rendered object. Example: `JobSet/llm`."""
    path: str
    """The field."""
    value: Any
    """Its value."""
    owner: FieldOwner
    """Who set it."""


class ExplainResult(TypedDict, total=False):
    """What `explain` says of the fields of jobs, of a code, or of a variable; it has the fields of one of these."""

    jobs: list[ExplainedJob]
    """The jobs."""
    fields: list[ExplainedField]
    """Their fields."""
    code: str
    """The code. Example: `TF614`."""
    title: str
    """What the code means, in a line."""
    page: str
    """The page of the code, in Markdown."""
    variable: str
    """The variable. Example: `PET_NNODES`."""
    setBy: str
    """Who sets it. Example: `torch`."""
    meaning: str
    """What it means."""
    source: str
    """Where its value comes from."""
    example: str
    """A value."""


class KnownRuntime(TypedDict):
    """A runtime that TrainJobs may refer to."""

    name: str
    """Its name."""
    kind: str
    """Its kind."""
    namespace: str
    """The namespace of a TrainingRuntime."""
    framework: str
    """The framework that it is labelled with."""
    source: str
    """Its file, or the package that ships it."""
    version: str
    """The version of that package."""
    replaces: str
    """The package whose runtime of the same name it replaces; empty for none."""


class RuntimeList(TypedDict):
    """The runtimes that `runtimes` lists."""

    runtimes: list[KnownRuntime]
    """The runtimes of the repository, then the shipped ones."""


class KnownPlugin(TypedDict):
    """An installed plugin."""

    name: str
    """Its name."""
    package: str
    """The package that brings it."""
    version: str
    """The version of that package."""
    state: Literal["in use", "disabled", "not required"]
    """Whether this repository uses it."""


class PluginList(TypedDict):
    """The plugins that `plugins` lists."""

    plugins: list[KnownPlugin]
    """Those in use, in the order in which they run; then the others."""


class RerunJob(JobName):
    """A job that runs again."""

    file: str
    """The file of its TrainJob."""
    rerun: int
    """How often it was asked to run again."""
    consequence: str
    """What happens to the present run."""


class RerunResult(TypedDict):
    """The jobs that `rerun` marked."""

    jobs: list[RerunJob]
    """The jobs; none if there is an error."""
    diagnostics: list[Finding]
    """The problems."""


class ChangedFactFile(TypedDict):
    """A file with facts."""

    file: str
    """The file."""
    change: Literal["added", "changed", "removed"]
    """How it differs from what was there."""


class DeclaredVersion(TypedDict):
    """A version that the Environment declares otherwise."""

    key: str
    """The key of the Environment. Example: `kubernetes`."""
    declared: str
    """What it says."""
    live: str
    """What the cluster has."""


class FactsResult(TypedDict):
    """The facts that `facts pull` read from a cluster."""

    environment: str
    """The environment."""
    context: str
    """The context of the kubeconfig; empty inside of a cluster."""
    server: str
    """The address of the API server."""
    files: list[ChangedFactFile]
    """The files that differ."""
    versions: list[DeclaredVersion]
    """The versions that differ."""
    counts: dict[str, int]
    """How many facts there are, by kind."""
    absent: list[str]
    """What is not installed in the cluster."""
    notes: list[str]
    """What could not be read."""
    written: bool
    """Whether the files were written."""
    diff: list[str]
    """The lines of a unified diff from the files to the cluster."""
    diagnostics: list[Finding]
    """The problems."""


class OriginOfJob(TypedDict):
    """The old job that a file comes from."""

    file: str
    """Its file."""
    line: int
    """Its line."""
    kind: str
    """Its kind. Example: `PyTorchJob`."""
    namespace: str
    """Its namespace."""
    name: str
    """Its name."""


class MigratedText(TypedDict):
    """A file with migrated jobs."""

    file: str
    """The file."""
    change: Literal["new", "edited"]
    """Whether it is new."""
    text: str
    """All that it holds."""
    origins: list[OriginOfJob]
    """The jobs that it comes from."""


class MigrateResult(TypedDict):
    """What `migrate` made of old jobs."""

    files: list[MigratedText]
    """The files."""
    written: list[str]
    """Those that were written."""
    diagnostics: list[Finding]
    """The problems, and what is lost."""


class RetiredJob(TypedDict):
    """A job that is removed."""

    name: str
    """Its name."""
    namespace: str
    """Its namespace."""
    file: str
    """Its file."""


class RetiredFile(TypedDict):
    """A file that jobs are removed from."""

    file: str
    """The file."""
    change: Literal["deleted", "edited"]
    """Whether anything is left of it."""


class RetireResult(TypedDict):
    """The jobs that `retire` removed."""

    jobs: list[RetiredJob]
    """The jobs; none if there is an error."""
    files: list[RetiredFile]
    """Their files."""
    written: bool
    """Whether the files were changed."""
    diff: dict[str, Any] | None
    """What the removal does: a DiffResult; null if no job is removed."""
    diagnostics: list[Finding]
    """The problems."""


class KeysResult(TypedDict):
    """The keys that `keys` made."""

    wrote: list[str]
    """The files that were written."""
    diagnostics: list[Finding]
    """The problems."""


RESULTS: tuple[type, ...] = (
    CapacityResult,
    CheckResult,
    DiffResult,
    ExplainResult,
    FactsResult,
    KeysResult,
    LiveDiffResult,
    MigrateResult,
    PluginList,
    RenderResult,
    RerunResult,
    RetireResult,
    RuntimeList,
    StatusResult,
    ValidateResult,
)
"""Each is the document of its name."""

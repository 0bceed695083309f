"""Labels and annotations that the compiler reads, with what each is for."""

from __future__ import annotations

from trainform.api.runtime_rules import STEP_LABEL, SUPPORT_LABEL
from trainform.core.beside.companions import COMPANION_OF
from trainform.core.gitops import SYNC_OPTIONS, SYNC_WAVE
from trainform.editor.links import VOLCANO_QUEUE
from trainform.k8s.labels import KAI_QUEUE_LABEL
from trainform.output.rerun import RERUN
from trainform.review.capacity.deadline import MAX_EXEC_LABEL
from trainform.review.capacity.demand import PRIORITY_LABEL, QUEUE_LABEL
from trainform.review.report.model import FRAMEWORK_LABEL

_PODSET = "kueue.x-k8s.io/podset-"

LABELS = {
    QUEUE_LABEL: "the LocalQueue of Kueue",
    PRIORITY_LABEL: "the WorkloadPriorityClass of Kueue",
    MAX_EXEC_LABEL: "after how many seconds Kueue stops the job",
    KAI_QUEUE_LABEL: "the queue of KAI",
    STEP_LABEL: "the step of the training that a replicated job is",
    FRAMEWORK_LABEL: "the framework of a runtime, which SDKs read",
    SUPPORT_LABEL: "whether a runtime is deprecated",
}
ANNOTATIONS = {
    VOLCANO_QUEUE: "the queue of Volcano",
    COMPANION_OF: "the runtime that this object belongs to",
    RERUN: "a number that `trainform rerun` increments",
    SYNC_WAVE: "the wave in which Argo CD applies an object",
    SYNC_OPTIONS: "how Argo CD applies an object",
    f"{_PODSET}required-topology": "the level of which one domain must hold all pods of a step",
    f"{_PODSET}preferred-topology": "the level of which one domain should hold all pods of a step",
    f"{_PODSET}unconstrained-topology": "whether Kueue counts the step node by node",
    f"{_PODSET}slice-required-topology": "the level that holds a whole slice of the pods",
    f"{_PODSET}slice-size": "how many pods make a slice",
    f"{_PODSET}group-name": "steps of one group get the same domain",
}

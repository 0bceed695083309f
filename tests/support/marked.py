"""Small repositories with a cursor: `‸` in the text of one file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

from support.editor import CURSOR, cursor_in, snapshot_of
from trainform.diagnostics import Position
from trainform.editor.positions import Span
from trainform.editor.search import Location, text_of
from trainform.editor.snapshot import JobEntry, RepositorySnapshot

RUNTIME = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata:
  name: torch
spec:
  mlPolicy:
    numNodes: 1
    torch: {}
  template:
    spec:
      replicatedJobs:
      - name: node
        template:
          metadata:
            labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}
          spec:
            template:
              spec:
                containers:
                - name: node
                  image: example/torch:1
"""
ENVIRONMENT = """\
apiVersion: trainform.dev/v1alpha1
kind: Environment
metadata: {name: prod}
spec:
  scheduling:
    kueue: {localQueue: team-a, priorityClass: high}
"""
QUEUES = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: team-a, namespace: ml}
spec: {clusterQueue: shared}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: shared}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu, memory, nvidia.com/gpu]
    flavors:
    - name: h100
      resources:
      - {name: cpu, nominalQuota: 1000}
      - {name: memory, nominalQuota: 10000Gi}
      - {name: nvidia.com/gpu, nominalQuota: 64}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: h100}
spec:
  nodeLabels: {example.com/gpu: h100}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: WorkloadPriorityClass
metadata: {name: high}
value: 1000
"""


def job(name: str = "llm", spec: str = "", metadata: str = "") -> str:
    """A TrainJob on the runtime `torch`; `spec` and `metadata` are more lines of these mappings."""
    head = f"apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nmetadata:\n  name: {name}\n  namespace: ml\n"
    own = spec if "runtimeRef" in spec else f"runtimeRef: {{name: torch}}\n{dedent(spec)}"
    return f"{head}{_indented(metadata)}spec:\n{_indented(own)}"


class Marked(NamedTuple):
    """A repository as an editor has it, and where the cursor is."""

    snapshot: RepositorySnapshot
    file: str
    at: Position

    def told(self, locations: Iterable[Location]) -> list[str]:
        """Each location with what is written there: `runtimes/torch.yaml:4 torch`."""
        return [f"{file}:{span.start.line} {self.written(file, span)}".rstrip() for file, span in locations]

    def written(self, file: str, span: Span) -> str:
        lines = text_of(self.snapshot, file).split("\n")
        return lines[span.start.line - 1][span.start.column - 1 : span.end.column - 1]


def marked(root: Path, files: Mapping[str, str]) -> Marked:
    """The files on disk, of which one has a cursor; a file that has it is an open buffer besides."""
    found, buffers = ("trainform.yaml", Position(1, 1)), {}
    for file, text in {"trainform.yaml": "", **files}.items():
        plain, at = cursor_in(text)
        if CURSOR in text:
            found, buffers[file] = (file, at), plain
        path = root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(plain)
    return Marked(_indexed(snapshot_of(root, buffers)), *found)


def _indexed(snapshot: RepositorySnapshot) -> RepositorySnapshot:
    """With an index of all jobs, which a server has from its last compile."""
    jobs = [(file, job) for file in snapshot.files if file.startswith("jobs/") for job in snapshot.jobs(file)]
    runtimes = [job.compiled.runtime for _, job in jobs]
    entries = [
        JobEntry(job.id, file, used.key if used else None, job.compiled.patches)
        for (file, job), used in zip(jobs, runtimes, strict=True)
    ]
    return replace(snapshot, index=entries)


def _indented(text: str) -> str:
    return "".join(f"  {line}\n" if line else "\n" for line in dedent(text).splitlines())

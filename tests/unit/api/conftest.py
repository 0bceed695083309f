"""A document as text, and what reading it gives."""

from __future__ import annotations

import pytest

from trainform.api import Read, read
from trainform.diagnostics import dotted
from trainform.source import load

JOB = """
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: llm}
spec:
  runtimeRef: {name: torch-distributed}
"""

RUNTIME = """
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: torch-distributed}
spec:
"""

NODE = """
  template:
    spec:
      replicatedJobs:
      - name: node
        template:
          metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
          spec: {template: {spec: {containers: [{name: node, image: train:1}]}}}
"""


ENVIRONMENT = """
apiVersion: trainform.dev/v1alpha1
kind: Environment
metadata: {name: prod-eu}
spec: """


class Reader:
    """Reads the one document of a text; a job or runtime may be given by its part below `spec`."""

    def text(self, text: str) -> Read:
        [document] = load(text, "a.yaml").documents
        return read(document)

    def job(self, spec: str = "") -> Read:
        return self.text(JOB + spec)

    def runtime(self, spec: str, template: str = NODE) -> Read:
        return self.text(RUNTIME + spec + template)

    def object(self, kind: str, metadata: str = "{name: a}", spec: str = "{runtimeRef: {name: r}}") -> Read:
        head = f"apiVersion: trainer.kubeflow.org/v1alpha1\nkind: {kind}"
        return self.text(f"{head}\nmetadata: {metadata}\nspec: {spec}")

    def environment(self, spec: str) -> Read:
        """An Environment of which `spec` is a flow mapping, or the part below it, indented."""
        return self.text(f"{ENVIRONMENT}{spec}")

    def told(self, result: Read, severity: str = "error") -> list[tuple[str, str]]:
        return [(told.code, dotted(told.path)) for told in result.diagnostics if told.severity == severity]


@pytest.fixture
def reader() -> Reader:
    return Reader()

"""A node with two kinds of GPU, of which the controller picks one at random (TFD09), and a TrainJob without
`spec.trainer`: there it counts processes for MPI alone."""

from __future__ import annotations

import pytest

from trainform import compile_stream

STREAM = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {{name: shared}}
spec:
  mlPolicy: {policy}
  template:
    spec:
      replicatedJobs:
      - name: node
        template:
          metadata: {{labels: {{trainer.kubeflow.org/trainjob-ancestor-step: trainer}}}}
          spec:
            template:
              spec:
                containers:
                - name: node
                  image: example/train:1
                  resources: {{limits: {{nvidia.com/gpu: 2, amd.com/gpu: 4}}}}
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {{name: llm, namespace: ml}}
spec:
  runtimeRef: {{name: shared}}
{trainer}"""

XGBOOST = "{numNodes: 2, xgboost: {}}"
MPI = "{numNodes: 2, mpi: {mpiImplementation: OpenMPI, sshAuthMountPath: /root/.ssh}}"


@pytest.mark.parametrize(
    ("policy", "trainer", "told"),
    [
        (XGBOOST, "", False),
        (XGBOOST, "  trainer: {numNodes: 2}\n", True),
        (MPI, "", True),
        (MPI, "  trainer: {numNodes: 2}\n", True),
    ],
    ids=["xgboost", "xgboost with trainer", "mpi", "mpi with trainer"],
)
def test_a_count_at_random_is_told_where_the_controller_counts(policy, trainer, told):
    (job,) = compile_stream(STREAM.format(policy=policy, trainer=trainer))["jobs"]
    assert job["objects"]
    assert ("TFD09" in [each["code"] for each in job["diagnostics"]]) is told

"""A pull request as a reviewer meets it: one runtime edit, and a job of each fate."""

from __future__ import annotations

from textwrap import dedent, indent

from support.repositories import Repository

ENVIRONMENT = dedent(
    """\
    apiVersion: trainform.dev/v1alpha1
    kind: Environment
    metadata: {name: prod}
    spec:
      namespace: nlp
      scheduling: {kueue: {localQueue: team-nlp}}
    """
)
RUNTIME = dedent(
    """\
    apiVersion: trainer.kubeflow.org/v1alpha1
    kind: ClusterTrainingRuntime
    metadata: {name: NAME}
    spec:
      mlPolicy: {numNodes: 1, torch: {}}
      template:
        spec:
          replicatedJobs:
          - name: node
            template:
              metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
              spec:
                template:
                  spec:
                    containers:
                    - name: node
                      image: registry.example.com/torch:2.9
    """
)
DEBUG = " " * 18 + "env: [{name: NCCL_DEBUG, value: INFO}]\n"
QUEUES = dedent(
    """\
    apiVersion: kueue.x-k8s.io/v1beta2
    kind: LocalQueue
    metadata: {name: team-nlp, namespace: nlp}
    spec: {clusterQueue: gpu}
    ---
    apiVersion: kueue.x-k8s.io/v1beta2
    kind: ClusterQueue
    metadata: {name: gpu}
    spec:
      namespaceSelector: {}
      resourceGroups:
      - coveredResources: [nvidia.com/gpu, cpu, memory]
        flavors:
        - name: h100
          resources:
          - {name: nvidia.com/gpu, nominalQuota: 192}
          - {name: cpu, nominalQuota: 1024}
          - {name: memory, nominalQuota: 8Ti}
    ---
    apiVersion: kueue.x-k8s.io/v1beta2
    kind: ResourceFlavor
    metadata: {name: h100}
    """
)


def runtime(name: str) -> str:
    return RUNTIME.replace("NAME", name)


def job(
    name: str,
    nodes: int = 2,
    image: str = "registry.example.com/llm:1.4",
    runtime: str = "torch",
    patch: str = "",
) -> str:
    """A TrainJob on nodes of eight GPUs; `patch` is what a runtimePatch says of the JobSet's template."""
    text = dedent(
        f"""\
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        metadata: {{name: {name}}}
        spec:
          runtimeRef: {{name: {runtime}}}
          trainer:
            image: {image}
            numNodes: {nodes}
            resourcesPerNode:
              requests: {{cpu: 32, memory: 256Gi}}
              limits: {{nvidia.com/gpu: 8}}
        """
    )
    if not patch:
        return text
    return (
        f"{text}  runtimePatches:\n  - manager: example.com/team\n    trainingRuntimeSpec:\n      template:\n"
        + indent(dedent(patch), " " * 8)
    )


ZONE = """\
spec:
  replicatedJobs:
  - name: node
    template: {spec: {template: {spec: {nodeSelector: {topology.kubernetes.io/zone: eu-1b}}}}}
"""
OWNER = "metadata: {labels: {owner: search}}\n"


def before(repository: Repository) -> None:
    """Ten jobs of two runtimes."""
    repository.write("environments/prod/environment.yaml", ENVIRONMENT)
    repository.write("environments/prod/queues.yaml", QUEUES)
    for name in ("torch", "torch-lts"):
        repository.write(f"runtimes/{name}.yaml", runtime(name))
    for name in ("llm", "old-llm", "classifier", *(f"sweep-{index}" for index in range(5))):
        repository.write(f"jobs/{name}.yaml", job(name))
    for name in ("reranker", "embedder"):
        repository.write(f"jobs/{name}.yaml", job(name, runtime="torch-lts"))


def change(repository: Repository) -> None:
    """A variable in one runtime; one job is edited for each way that a change can take, one deleted, one new."""
    repository.write("runtimes/torch.yaml", runtime("torch") + DEBUG)
    repository.write("jobs/llm.yaml", job("llm", nodes=4, image="registry.example.com/llm:1.5"))
    repository.write("jobs/reranker.yaml", job("reranker", runtime="torch-lts", patch=ZONE))
    repository.write("jobs/embedder.yaml", job("embedder", runtime="torch-lts", patch=OWNER))
    repository.write("jobs/classifier.yaml", job("classifier", patch=OWNER))
    repository.write("jobs/summarizer.yaml", job("summarizer", nodes=1))
    (repository.root / "jobs/old-llm.yaml").unlink()

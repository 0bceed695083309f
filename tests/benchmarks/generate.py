"""Repositories of any number of TrainJobs: the same number gives the same bytes, and nothing to warn of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2

File = tuple[str, str]  # path and text

TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
    undefined=jinja2.StrictUndefined,
    keep_trailing_newline=True,
)

# Each runtime and its kind of framework.
RUNTIMES = {
    **{f"torch-{number}": "torch" for number in range(8)},
    "torchtune-llama3.2-1b": "torchtune",
    "torchtune-qwen2.5-1.5b": "torchtune",
    **{f"deepspeed-{number}": "mpi" for number in range(3)},
    **{f"jax-{number}": "jax" for number in range(2)},
    **{f"xgboost-{number}": "xgboost" for number in range(2)},
    **{f"plain-{number}": "plain" for number in range(3)},
}

SHM = {"shm": "/dev/shm"}
WORKSPACE = {"initializer": "/workspace"}


def _step(name: str, container: str = "node", ancestor: str = "trainer", **more: Any) -> dict[str, Any]:
    usual = {"command": [], "after": [], "mounts": SHM}
    return {**usual, "name": name, "container": container, "ancestor": ancestor, **more}


def _download(name: str) -> dict[str, Any]:
    return _step(name, name, name, mounts=WORKSPACE)


TORCH = "torch-0"

# The replicated jobs of each kind of framework.
STEPS = {
    **{framework: [_step("node")] for framework in ("torch", "jax", "xgboost", "plain")},
    "torchtune": [
        _download("dataset-initializer"),
        _download("model-initializer"),
        _step(
            "node",
            command=["tune", "run", "full_finetune_distributed", "--config", "llama3_2/1B_full"],
            after=["dataset-initializer", "model-initializer"],
            status="Complete",
            mounts={**WORKSPACE, **SHM},
        ),
    ],
    "mpi": [
        _step("node", ancestor="", command=["/usr/sbin/sshd", "-De"]),
        _step("launcher", after=["node"], status="Ready"),
    ],
}

COMMANDS = {
    "torch": ["torchrun", "train.py"],
    "torchtune": ["tune", "run"],
    "mpi": ["mpirun", "python", "train.py"],
    "jax": ["python", "train.py"],
    "xgboost": ["python", "train.py"],
    "plain": ["python", "train.py"],
}

ENVIRONMENTS = {
    "prod": """\
  cluster: {kubernetes: "1.36", jobset: "0.12", kueue: "0.17"}
  scheduling: {kueue: {localQueue: training}}
  gitops: {engine: argocd}
""",
    "staging": """\
  cluster: {kubernetes: "1.35", jobset: "0.12"}
  patches:
  - target: {kind: JobSet}
    patch: |
      metadata:
        annotations: {example.com/stage: staging}
""",
    "lab": """\
  cluster: {kubernetes: "1.36", jobset: "0.12"}
""",
}

ENVIRONMENT = """\
apiVersion: trainform.dev/v1alpha1
kind: Environment
metadata:
  name: {name}
spec:
  jobs: {{paths: ["jobs/{name}/**"]}}
  secrets: {{mode: external-secret, store: {{name: vault, kind: ClusterSecretStore}}}}
"""

QUEUES = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: gpu}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: training}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu, memory, nvidia.com/gpu]
    flavors:
    - name: gpu
      resources:
      - {name: cpu, nominalQuota: 100000}
      - {name: memory, nominalQuota: 1000Ti}
      - {name: nvidia.com/gpu, nominalQuota: 20000}
"""

LOCAL_QUEUE = """\
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {{name: training, namespace: {}}}
spec: {{clusterQueue: training}}
"""

TEAMS = 50
JOBS_OF_A_BATCH = 15_000
PREFIX = "llm-"


@dataclass(frozen=True, slots=True)
class Job:
    """One TrainJob by its number. Another `revision` is a change of it; no `environment`: the default one."""

    number: int
    runtime: str
    environment: str = ""
    revision: int = 0

    @property
    def namespace(self) -> str:
        return team(self.number // 60 % TEAMS)

    @property
    def name(self) -> str:
        return f"{PREFIX}train-{self.number:06d}"

    @property
    def file(self) -> str:
        """Where it stands: no folder gets more than 300 files, however many jobs there are."""
        batch = f"batch-{self.number // JOBS_OF_A_BATCH}"
        return "/".join(filter(None, ("jobs", self.environment, self.namespace, batch, f"{self.name}.yaml")))

    @property
    def digest(self) -> str:
        return f"{self.number:064d}"

    @property
    def nodes(self) -> int:
        return 1 if RUNTIMES[self.runtime] == "torchtune" else 2 + self.number % 15

    def text(self) -> str:
        return job_text(self.name, self.namespace, self.runtime, self.nodes, self.digest, self.revision)


def mixed_job(number: int, revision: int = 0) -> Job:
    """Job `number` of a mixed repository: twenty in a row run on all runtimes, in one Environment."""
    runtimes, environments = list(RUNTIMES), list(ENVIRONMENTS)
    environment = environments[number // len(runtimes) % len(environments)]
    return Job(number, runtimes[number % len(runtimes)], environment, revision)


def mixed_files(jobs: int) -> Iterator[File]:
    """Every file of a repository of mixed jobs, three Environments and twenty runtimes."""
    yield "trainform.yaml", ""
    for name in RUNTIMES:
        yield runtime_file(name), runtime_text(name)
    for name, spec in ENVIRONMENTS.items():
        yield f"environments/{name}/environment.yaml", ENVIRONMENT.format(name=name) + spec
    yield "environments/prod/queues.yaml", QUEUES + "".join(LOCAL_QUEUE.format(team(n)) for n in range(TEAMS))
    for number in range(jobs):
        job = mixed_job(number)
        yield job.file, job.text()


def torch_files(jobs: int) -> Iterator[File]:
    """Every file of a repository of torch jobs with one runtime and no Environment: one JobSet comes of each."""
    yield "trainform.yaml", ""
    yield runtime_file(TORCH), runtime_text(TORCH)
    for number in range(jobs):
        job = Job(number, TORCH)
        yield job.file, job.text()


def job_text(name: str, namespace: str, runtime: str, nodes: int, digest: str, revision: int = 0) -> str:
    """A TrainJob, written as people write them."""
    framework = RUNTIMES[runtime]
    tunes = framework == "torchtune"
    return TEMPLATES.get_template("job.yaml.j2").render(
        name=name,
        namespace=namespace,
        runtime=runtime,
        framework=framework,
        digest=digest,
        command=COMMANDS[framework],
        args=["batch_size=4", "epochs=3"] if tunes else ["--model", "llama", "--epochs", "3"],
        nodes=nodes,
        gpus=2 if tunes else 8,
        revision=revision,
    )


def runtime_file(name: str) -> str:
    return f"runtimes/{name}.yaml"


def runtime_text(name: str, revision: int = 0) -> str:
    """A runtime; another `revision` changes every job of it that is rendered anew."""
    framework = RUNTIMES[name]
    return TEMPLATES.get_template("runtime.yaml.j2").render(
        name=name, framework=framework, pool=name.replace(".", "-"), steps=STEPS[framework], revision=revision
    )


def team(number: int) -> str:
    return f"team-{number:02d}"


def write(root: Path, files: Iterable[File]) -> None:
    """Writes files below a folder, which is made."""
    made: set[Path] = set()
    for file, text in files:
        path = root / file
        if path.parent not in made:
            path.parent.mkdir(parents=True, exist_ok=True)
            made.add(path.parent)
        path.write_text(text)

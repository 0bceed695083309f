"""How fast trainform is, measured in one run beside `kubectl kustomize` on equal work.

    python tests/benchmarks/first_day.py [--jobs 1000] [--rounds 5] [--python PYTHON]

`--python` names the interpreter of an environment into which trainform is installed (not editable).
Whole processes, wall time, best of the rounds, peers taken in turns: what disturbs one disturbs all.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

RUNTIME = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata:
  name: torch-gpu
  labels: {trainer.kubeflow.org/framework: torch}
spec:
  mlPolicy: {numNodes: 1, torch: {}}
  template:
    spec:
      failurePolicy: {maxRestarts: 3}
      replicatedJobs:
      - name: node
        template:
          metadata:
            labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}
          spec:
            template:
              spec:
                nodeSelector: {gpu: h100}
                tolerations:
                - {key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}
                containers:
                - name: node
                  image: registry.example.com/torch@sha256:@DIGEST@
                  volumeMounts: [{name: shm, mountPath: /dev/shm}]
                volumes:
                - {name: shm, emptyDir: {medium: Memory, sizeLimit: 64Gi}}
""".replace("@DIGEST@", "a" * 64)

JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata:
  name: llm-{number:06d}
  namespace: team-{team:02d}
spec:
  runtimeRef:
    name: torch-gpu
  trainer:
    image: registry.example.com/llm/train@sha256:{number:064d}
    numNodes: {nodes}
    command: [torchrun, train.py]
    args: [--model, llama, --epochs, "3"]
    env:
    - name: WANDB_PROJECT
      value: project-{team}
    - name: LEARNING_RATE
      value: "0.{nodes}"
    resourcesPerNode:
      limits: {{nvidia.com/gpu: 8, memory: 512Gi}}
      requests: {{cpu: 32, memory: 512Gi, nvidia.com/gpu: 8}}
"""

PATCH = """\
- target: {kind: JobSet}
  patch: |-
    - op: add
      path: /metadata/labels
      value: {patched: "yes"}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--python", default=sys.executable)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        many_jobs(Path(folder), options.jobs, options.rounds, options.python)
        one_process(Path(folder), options.rounds, options.python)


def many_jobs(folder: Path, jobs: int, rounds: int, python: str) -> None:
    repository, kustomization = folder / "repository", folder / "kustomization"
    write_repository(repository, jobs)
    trainform = [python, "-m", "trainform", "--root", str(repository), "render"]
    subprocess.run(trainform, check=True, capture_output=True)
    write_kustomization(kustomization, repository / "rendered")

    def cold() -> None:
        for state in ("rendered", ".trainform"):
            shutil.rmtree(repository / state, ignore_errors=True)

    times = best(
        rounds,
        {
            "trainform render, cold": (trainform, cold),
            "trainform render, nothing changed": (trainform, None),
            "kubectl kustomize": (["kubectl", "kustomize", str(kustomization)], None),
        },
    )
    print(f"{jobs} torch TrainJobs, or the same JobSets with a name prefix and one patch:")
    report(times, times["trainform render, cold"])


def one_process(folder: Path, rounds: int, python: str) -> None:
    job = (folder / "repository" / "jobs" / "job-000001.yaml").read_text()
    stream = f"{RUNTIME}---\n{job}".encode()
    trainform = [python, "-m", "trainform"]
    commands: dict[str, tuple[list[str], Callable[[], None] | None]] = {
        "python -c pass": ([python, "-c", "pass"], None),
        "trainform --version": ([*trainform, "--version"], None),
        "trainform --help": ([*trainform, "--help"], None),
        "trainform render -, one job": ([*trainform, "render", "-"], None),
    }
    times = best(4 * rounds, commands, stream)
    print("one process:")
    report(times, times["python -c pass"])


def write_repository(root: Path, jobs: int) -> None:
    for name in ("jobs", "runtimes"):
        (root / name).mkdir(parents=True)
    (root / "trainform.yaml").write_text("")
    (root / "runtimes" / "torch-gpu.yaml").write_text(RUNTIME)
    for number in range(jobs):
        text = JOB.format(number=number, team=number % 20, nodes=1 + number % 16)
        (root / "jobs" / f"job-{number:06d}.yaml").write_text(text)


def write_kustomization(folder: Path, rendered: Path) -> None:
    folder.mkdir()
    files = sorted(rendered.rglob("jobset-*.yaml"))
    for file in files:
        shutil.copy(file, folder / file.name)
    resources = "".join(f"- {file.name}\n" for file in files)
    (folder / "kustomization.yaml").write_text(f"namePrefix: x-\nresources:\n{resources}patches:\n{PATCH}")


def best(
    rounds: int, commands: dict[str, tuple[list[str], Callable[[], None] | None]], stdin: bytes = b""
) -> dict[str, float]:
    """The best wall time of each command, in seconds; all commands once in each round."""
    times = dict.fromkeys(commands, float("inf"))
    for _ in range(rounds):
        for name, (command, prepare) in commands.items():
            if prepare is not None:
                prepare()
            start = time.perf_counter()
            subprocess.run(command, input=stdin, capture_output=True, check=True)
            times[name] = min(times[name], time.perf_counter() - start)
    return times


def report(times: dict[str, float], reference: float) -> None:
    for name, seconds in times.items():
        print(f"  {name:36} {seconds * 1000:8.0f} ms  {seconds / reference:6.2f} x")


if __name__ == "__main__":
    main()

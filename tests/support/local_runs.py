"""Repositories with a job of a few shell commands, and `trainform run` in them as a process of its own."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

from trainform.cli.main import run

Tree = dict[str, Any]

SECONDS = 120
"""After which a run counts as hanging."""


class RunEnded(NamedTuple):
    code: int
    out: str
    err: str

    def lines(self, pod: str) -> list[str]:
        """What the pod wrote, without its name."""
        heads = (line.partition(" |") for line in self.out.splitlines())
        return [text.removeprefix(" ") for name, _, text in heads if name.split()[:1] == [pod]]


def container(script: str, name: str = "node", **fields: Any) -> Tree:
    """A container that runs a shell script."""
    return {"name": name, "image": "example/train:1", "command": ["sh", "-c", script], **fields}


def step(
    name: str, *containers: Tree, pods: int = 1, job: Tree | None = None, pod: Tree | None = None, **more: Any
) -> Tree:
    """A replicated job; `job` are fields of its JobSpec, `pod` of its PodSpec, `more` of itself."""
    pod_spec = {"containers": [*containers], **(pod or {})}
    spec = {"parallelism": pods, "completions": pods, "template": {"spec": pod_spec}, **(job or {})}
    return {"name": name, "template": {"metadata": {}, "spec": spec}, **more}


def trainer(*containers: Tree, pods: int = 1, **more: Any) -> Tree:
    """The trainer step."""
    made = step("node", *containers, pods=pods, **more)
    made["template"]["metadata"] = {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}}
    return made


class LocalRepository:
    """A repository with one job called `fit`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.write("trainform.yaml", "")

    def write(self, file: str, text: str) -> None:
        path = self.root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def steps(self, *steps: Tree, policy: Tree | None = None, **spec: Any) -> None:
        """A runtime with these steps and the job of it; `spec` are fields of the JobSet."""
        template = {"spec": {"replicatedJobs": [*steps], **spec}}
        nodes = next((each["template"]["spec"]["parallelism"] for each in steps if each["name"] == "node"), 1)
        self.runtime({"mlPolicy": {"numNodes": nodes, **(policy or {})}, "template": template})
        self.job("steps", {})

    def runtime(self, spec: Tree) -> None:
        runtime = {
            "apiVersion": "trainer.kubeflow.org/v1alpha1",
            "kind": "ClusterTrainingRuntime",
            "metadata": {"name": "steps"},
            "spec": spec,
        }
        self.write("runtimes/steps.yaml", json.dumps(runtime, indent=1))

    def job(self, runtime: str, trainer: Tree, *beside: Tree) -> None:
        job = {
            "apiVersion": "trainer.kubeflow.org/v1alpha1",
            "kind": "TrainJob",
            "metadata": {"name": "fit", "namespace": "ml"},
            "spec": {"runtimeRef": {"name": runtime}, "trainer": trainer},
        }
        self.write("jobs/fit.yaml", "\n---\n".join(json.dumps(each, indent=1) for each in (job, *beside)))

    def start(self, folder: Path | None = None) -> subprocess.Popen[str]:
        """A run by a process of its own; `folder` is its folder for temporary files."""
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "trainform", "run", "fit"],
            cwd=self.root,
            env={**os.environ, **({"TMPDIR": str(folder)} if folder else {})},
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def run(self, *options: str) -> RunEnded:
        """A run by this process, which takes less time to start."""
        written = io.BytesIO(), io.BytesIO()
        out, err = (io.TextIOWrapper(each, encoding="utf-8", write_through=True) for each in written)
        with contextlib.chdir(self.root), redirect_stdout(out), redirect_stderr(err):
            code = run(["run", "fit", "--timeout", str(SECONDS), *options])
        return RunEnded(code, *(each.getvalue().decode() for each in written))


def config_map(name: str, data: dict[str, str]) -> Tree:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def exits(*codes: int) -> str:
    """A script that ends with another code each time it runs in one folder: at last with 0."""
    cases = "".join(f"{number}) exit {code};; " for number, code in enumerate(codes))
    return f'mkdir -p tries; n=$(ls tries | wc -l); touch "tries/$n"; case $n in {cases}esac'

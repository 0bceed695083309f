"""A git repository to play a story in."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from textwrap import dedent

JOB = dedent(
    """\
    apiVersion: trainer.kubeflow.org/v1alpha1
    kind: TrainJob
    metadata:
      name: {name}
      namespace: {namespace}
    spec:
      runtimeRef:
        name: torch
      trainer:
        numNodes: {nodes}
    """
)
RUNTIME = dedent(
    """\
    apiVersion: trainer.kubeflow.org/v1alpha1
    kind: ClusterTrainingRuntime
    metadata:
      name: torch
    spec:
      mlPolicy:
        numNodes: 1
        torch: {{}}
      template:
        spec:
          replicatedJobs:
          - name: node
            template:
              metadata:
                labels:
                  trainer.kubeflow.org/trainjob-ancestor-step: trainer
              spec:
                template:
                  spec:
                    containers:
                    - name: node
                      image: {image}
    """
)
ENVIRONMENT = dedent(
    """\
    apiVersion: trainform.dev/v1alpha1
    kind: Environment
    metadata:
      name: prod
    spec:
      gitops: {{naming: {naming}, layout: {layout}, engine: {engine}, kustomization: {kustomization}}}
    """
)


def job(name: str, nodes: object = 2, namespace: str = "ml") -> str:
    return JOB.format(name=name, nodes=nodes, namespace=namespace)


def runtime(image: str = "registry.example.com/train:1") -> str:
    return RUNTIME.format(image=image)


def environment(
    naming: str = "stable", layout: str = "per-object", engine: str = "none", kustomization: str = "false"
) -> str:
    return ENVIRONMENT.format(naming=naming, layout=layout, engine=engine, kustomization=kustomization)


class Repository:
    """Files, and git around them where `start_git` was called. No configuration of the machine reaches it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.write("trainform.yaml", "")

    def start_git(self) -> None:
        self.git("init", "--quiet", "--initial-branch", "main")

    def git(self, *arguments: str) -> str:
        names = ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL")
        alone = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, **dict.fromkeys(names, "somebody")}
        command = ["git", "-C", str(self.root), *arguments]
        environment = {**os.environ, **alone}
        return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout

    def write(self, file: str, text: str) -> None:
        path = self.root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def commit(self, message: str = "change") -> str:
        """Commits everything; the id of the commit."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.git("rev-parse", "HEAD").strip()

    def changed(self) -> list[str]:
        """The files that are not as they were committed: one line for each, as `git status` prints it."""
        return self.git("status", "--porcelain", "--untracked-files=all").splitlines()

    def files(self, *folders: str) -> dict[str, bytes]:
        """Every file below some folders, by path."""
        found = [path for folder in folders for path in (self.root / folder).rglob("*") if path.is_file()]
        return {path.relative_to(self.root).as_posix(): path.read_bytes() for path in sorted(found)}

"""The function in the pipeline of the kustomize that comes with kubectl.

That kustomize runs functions as containers only (kubectl has no --enable-exec), so a `docker` of our own stands
in PATH, which runs the function itself: what goes in and comes out is kustomize's.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from support.kustomize import needs_kubectl, write
from unit.cli.conftest import job

pytestmark = needs_kubectl

DOCKER = f"""\
#!/bin/sh
case " $* " in *" run "*" --network none "*" trainform "*) exec {sys.executable} -m trainform krm ;; esac
echo "unexpected: $*" >&2
exit 1
"""
TRANSFORMER = """\
apiVersion: trainform.dev/v1alpha1
kind: Environment
metadata:
  name: prod
  annotations:
    config.kubernetes.io/function: |
      container:
        image: trainform
spec:
  namespace: ml-prod
  cluster: {schedulers: [volcano]}
"""
KUSTOMIZATION = """\
resources: [job.yaml, others.yaml]
transformers: [trainform.yaml]
"""
OVERLAY = """\
resources: [../app]
commonAnnotations: {team: vision}
"""
OTHERS = """\
apiVersion: v1
kind: Namespace
metadata: {name: ml}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: x, namespace: ml}
data: {mode: "0644"}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high, annotations: {config.kubernetes.io/local-config: "true"}}
value: 1000
"""


@pytest.fixture
def build(tmp_path: Path):
    write(tmp_path / "bin", {"docker": DOCKER})
    (tmp_path / "bin" / "docker").chmod(0o755)
    path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"

    def call(job_text: str):
        texts = {
            "job.yaml": job_text,
            "others.yaml": OTHERS,
            "trainform.yaml": TRANSFORMER,
            "kustomization.yaml": KUSTOMIZATION,
        }
        write(tmp_path / "app", texts)
        folder = write(tmp_path / "overlay", {"kustomization.yaml": OVERLAY})
        command = ["kubectl", "kustomize", "--enable-alpha-plugins", str(folder)]
        return subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | {"PATH": path})

    return call


def test_jobs_become_what_they_run_as_and_all_else_stays(build):
    ran = build(job().replace("  namespace: ml\n", ""))
    assert ran.returncode == 0, ran.stderr
    objects = {each["kind"]: each for each in yaml.safe_load_all(ran.stdout)}
    assert objects.keys() == {"ConfigMap", "JobSet", "Namespace"}
    assert objects["JobSet"]["metadata"] == {
        "name": "llm",
        "namespace": "ml-prod",
        "annotations": {"team": "vision"},
    }
    assert objects["ConfigMap"]["data"] == {"mode": "0644"}


def test_an_error_stops_the_build_and_is_shown(build):
    ran = build(job(nodes="many"))
    assert (ran.returncode, ran.stdout) == (1, "")
    assert "error TF102 spec.trainer.numNodes" in ran.stderr

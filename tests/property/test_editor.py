"""What the editor shows is what `trainform validate` says of a copy with the buffers' bytes, after any edits."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.editor import settled
from support.repositories import environment, job, runtime
from trainform.diagnostics import Diagnostic
from trainform.diagnostics.documents import validate_result
from trainform.diagnostics.order import in_order
from trainform.editor.project import Project
from trainform.workspace.discovery import discover
from trainform.workspace.shards import ALL
from trainform.workspace.validate import validate

CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: scripts}\ndata: {a: b}\n"
GENERATOR = (
    "apiVersion: trainform.dev/v1alpha1\nkind: ConfigMapGenerator\nmetadata: {name: scripts}\nfiles: [train.py]\n"
)
VOLUME = """\
  runtimePatches:
  - manager: example.com/me
    trainingRuntimeSpec: {template: {spec: {replicatedJobs: [
      {name: node, template: {spec: {template: {spec: {volumes: [{name: v, configMap: {name: scripts}}]}}}}}]}}}
"""
QUEUE = (
    "apiVersion: kueue.x-k8s.io/v1beta1\nkind: LocalQueue\nmetadata: {name: q, namespace: ml}\n"
    "spec: {clusterQueue: c}\n"
)
TEXTS = [
    "",
    "kind",
    "kind: TrainJob\nspec: {",
    job("a"),
    job("b", nodes=0),
    job("b") + "---\n" + job("c", nodes="x"),
    job("a").replace("torch", "missing"),
    job("a") + VOLUME,
    job("d") + VOLUME + "---\n" + CONFIG_MAP,
    job("d") + VOLUME + "---\n" + GENERATOR,
    CONFIG_MAP,
    CONFIG_MAP.replace("{a: b}", "{a: b, a: c}"),
    runtime(),
    runtime("example/img:2").replace("torch: {}", "torch: {numProcPerNode: x}"),
    environment(),
    environment() + "  namespace: other\n  nmae: x\n",
    environment() + "  jobs: {selector: {matchLabels: {a: b}}}\n",
    environment().replace("prod", "dev"),
    QUEUE,
    "lints: {TF607: off}\n",
    "lints: {TF607: error}\njobs: [",
    "# trainform: ignore TF607\n" + job("a"),
    job("{{ env.name }}"),
    "é😀: [\n\t",
    "\r\n".join(job("a").splitlines()) + "\x00",
]
FILES = [
    "jobs/a.yaml",
    "jobs/b.yaml",
    "jobs/deep/a.yaml",
    "jobs/deep/t.yaml.j2",
    "jobs/train.py",
    "runtimes/torch.yaml",
    "environments/prod/environment.yaml",
    "environments/dev/environment.yaml",
    "trainform.yaml",
]
START = {
    "jobs/a.yaml": job("a"),
    "jobs/b.yaml": job("b"),
    "jobs/many.yaml": "---\n".join(job(f"m-{number}") for number in range(3)),
    "runtimes/torch.yaml": runtime(),
    "environments/prod/environment.yaml": environment(),
}

files, texts = st.sampled_from(FILES), st.sampled_from(TEXTS)
edits = st.one_of(
    st.tuples(st.just("buffer"), files, texts),
    st.tuples(st.just("close"), files, st.just("")),
    st.tuples(st.just("disk"), files, texts),
    st.tuples(st.just("delete"), files, st.just("")),
    st.tuples(st.just("step"), files, st.just("")),
)


def write(root: Path, file: str, text: bytes) -> None:
    (root / file).parent.mkdir(parents=True, exist_ok=True)
    (root / file).write_bytes(text)


def told_by_validate(root: Path) -> list[dict[str, Any]]:
    result = validate(discover(str(root)), ALL, workers=1)
    return validate_result(result.diagnostics)["diagnostics"]  # type: ignore[no-any-return]


def told(findings: dict[str, list[Diagnostic]]) -> list[dict[str, Any]]:
    return [each.to_json() for each in in_order(each for found in findings.values() for each in found)]


class Editor:
    """A project with its disk, and what it has told so far."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.project = Project(str(root))
        self.buffers: dict[str, bytes] = {}
        self.shown: dict[str, list[Diagnostic]] = {}

    def buffer(self, file: str, text: str) -> None:
        self.buffers[file] = text.encode()
        self.project.change(file, text.encode())

    def close(self, file: str, _: str) -> None:
        self.buffers.pop(file, None)
        self.project.change(file, None)

    def disk(self, file: str, text: str) -> None:
        write(self.root, file, text.encode())
        self.project.change_on_disk([file])

    def delete(self, file: str, _: str) -> None:
        (self.root / file).unlink(missing_ok=True)
        self.project.change_on_disk([file])

    def step(self, *_: str) -> None:
        self.project.step()

    def settle(self) -> dict[str, list[Diagnostic]]:
        self.shown |= settled(self.project)
        return self.shown


def same_as_validate(steps: list[tuple[str, str, str]], after: Callable[[Editor], None] = lambda _: None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root, copy = Path(folder).resolve() / "repository", Path(folder).resolve() / "copy"
        for file, text in START.items():
            write(root, file, text.encode())
        editor = Editor(root)
        editor.settle()
        for action, file, text in steps:
            getattr(editor, action)(file, text)
        shown = told(editor.settle())
        shutil.copytree(root, copy)
        for file, data in editor.buffers.items():
            write(copy, file, data)
        assert shown == told_by_validate(copy)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(edits, max_size=6))
def test_the_editor_shows_what_validate_says(steps):
    same_as_validate(steps)

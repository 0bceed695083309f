"""Whatever stands in a file, a request about any place is answered, and a rename changes nothing but the name."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from support.attacks import Victim
from support.editor import settled
from support.marked import ENVIRONMENT, RUNTIME, job
from trainform.diagnostics import Position
from trainform.editor.features.completion import completion
from trainform.editor.features.edits import applied
from trainform.editor.features.fixes import fixes
from trainform.editor.features.hover import hover
from trainform.editor.features.inlay import inlay_hints
from trainform.editor.features.navigation import definition, references
from trainform.editor.features.rename import RenameRefused, renamable, rename
from trainform.editor.features.rendered import rendered
from trainform.editor.features.symbols import symbols
from trainform.editor.positions import Lines, Span
from trainform.editor.project import Project
from trainform.editor.snapshot import RepositorySnapshot
from trainform.source import load

JOB = job(
    spec="""\
trainer:
  numNodes: 4
  env: [{name: PET_NNODES, value: 😀}]
runtimePatches:
- manager: a
  trainingRuntimeSpec:
    template: {spec: {replicatedJobs: [{name: node, template: {spec: {suspend: true}}}]}}
"""
)
BOMB = "a: &a [x, x]\n" + "".join(f"b{n}: &b{n} [*{f'b{n - 1}' if n else 'a'}, *a]\n" for n in range(30))
JOBS = {
    "jobs/plain.yaml": JOB,
    "jobs/crlf.yaml": JOB.replace("\n", "\r\n"),
    "jobs/cr.yaml": JOB.replace("\n", "\r"),
    "jobs/mixed.yaml": JOB.replace("metadata:\n", "metadata:\r").replace("spec:\n", "spec:\r\n", 1),
    "jobs/mark.yaml": "\ufeff" + JOB,
    "jobs/separators.yaml": "# \x85 \u2028 \u2029 😀\n" + JOB,
    "jobs/flow.yaml": "{apiVersion: trainer.kubeflow.org/v1alpha1, kind: TrainJob, metadata: {name: 'f'}, spec: "
    "{runtimeRef: {name: torch}, trainer: {numNodes: 4}}}",
    "jobs/json.json": '{"apiVersion":"trainer.kubeflow.org/v1alpha1","kind":"TrainJob","metadata":{"name":"j"},'
    '"spec":{"runtimeRef":{"name":"torch"}}}',
    "jobs/anchor.yaml": job("&n llm", metadata="labels: {a: *n}"),
    "jobs/alias.yaml": job("*n").replace("metadata:\n", "metadata:\n  labels: {a: &n llm}\n"),
    "jobs/merge.yaml": JOB.replace("metadata:\n", "metadata:\n  <<: {name: llm}\n").replace("  name: llm\n", ""),
    "jobs/tag.yaml": job("!!str llm"),
    "jobs/block.yaml": job(">-\n    llm"),
    "jobs/twice.yaml": JOB + "---\n" + JOB.replace("llm", "other"),
    "jobs/list.yaml": "apiVersion: v1\nkind: List\nitems:\n- " + job("l").replace("\n", "\n  ") + "\n",
    "jobs/sweep.yaml.j2": "{% for n in [1, 2] %}\n---\n" + job("s-{{ n }}") + "{% endfor %}\n",
    "jobs/one.yaml.j2": "{% set n = 1 %}\n" + job("llm"),
}
REFUSED = {
    f"jobs/{name}" for name in ("separators.yaml", "anchor.yaml", "alias.yaml", "merge.yaml", "block.yaml", "list.yaml")
} | {"jobs/sweep.yaml.j2"}
"""Those of which the name is not, or not only, written where a name stands."""
OTHERS = {
    "jobs/bomb.yaml": BOMB,
    "jobs/nul.yaml": JOB + "\x00",
    "jobs/half.yaml": JOB + "  a: {b: [",
    "jobs/types.yaml": "kind: TrainJob\nmetadata: 5\nspec: [1]\n---\nkind: [TrainJob]\nmetadata: {name: [a]}\n---\n"
    "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nmetadata: {name: {a: b}}\nspec: {runtimeRef: torch}\n"
    "---\napiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nspec: {runtimePatches: {a: b}}\n",
    "jobs/empty.yaml": "",
    "jobs/number.yaml": "5",
    "runtimes/odd.yaml": "kind: ClusterTrainingRuntime\nmetadata: {name: odd}\nspec: {template: {spec: "
    "{replicatedJobs: [1, {name: [a]}, {template: 5}]}}}\n",
    "environments/prod/environment.yaml": ENVIRONMENT + "  patches: {a: {target: 5}}\n  cluster: {objects: {a: b}}\n",
    "environments/prod/odd.yaml": "kind: Node\nmetadata: 5\nstatus: [a]\n---\nkind: Topology\nspec: {levels: [1, "
    "{nodeLabel: {a: b}}]}\n---\nkind: ClusterQueue\nspec: {resourceGroups: [{coveredResources: {a: b}}, 5]}\n---\n"
    "kind: Environment\nspec: {patches: {a: b}, cluster: {objects: [5, {kind: [a], names: {a: b}}]}}\n",
    "trainform.yaml": "plugins: [\n",
}
ASKED: list[Callable[[RepositorySnapshot, str, Position], object]] = [
    hover, completion, definition, references, renamable, rendered, partial(rename, new="bert"),
]  # fmt: skip


def snapshot(root: Path, files: dict[str, str]) -> RepositorySnapshot:
    for file, text in {"trainform.yaml": "", "runtimes/torch.yaml": RUNTIME, **files}.items():
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_bytes(text.encode())
    project = Project(str(root))
    settled(project)
    return project.snapshot()


def places(text: str, most: int = 60) -> list[Position]:
    """Spread over a text, and some outside of it."""
    lines = Lines(text)
    step = max(1, len(text) // most)
    return [*map(lines.position, range(0, len(text) + 1, step)), Position(10_000, 10_000), Position(1, 10_000)]


@pytest.mark.parametrize("file", [*JOBS, *OTHERS])
def test_a_request_about_any_place_is_answered(victim: Victim, file: str) -> None:
    here = snapshot(victim.root, {file: (JOBS | OTHERS)[file]})
    for at in places((JOBS | OTHERS)[file]):
        for ask in ASKED:
            with suppress(RenameRefused):
                ask(here, file, at)
    everything = Span(Position(1, 1), Position(10_000, 1))
    symbols(here, file)
    inlay_hints(here, file, everything)
    fixes(here, file, everything)


@pytest.mark.parametrize("file", JOBS)
def test_a_rename_changes_nothing_but_the_name(victim: Victim, file: str) -> None:
    (victim.root / "jobs/llm.yaml").unlink()
    shutil.rmtree(victim.root / ".trainform")
    here = snapshot(victim.root, {file: JOBS[file]})
    lines, renamed = Lines(JOBS[file]), set[str]()
    for at in places(JOBS[file], most=10_000):
        try:
            edits = rename(here, file, at, "null")
        except RenameRefused:
            continue
        assert {each.file for each in edits} == {file}
        renamed |= {applied(lines, edit) for _, edit in edits}
    assert bool(renamed) == (file not in REFUSED)
    if file.endswith(".j2"):
        assert renamed <= {lines.text.replace("name: llm", 'name: "null"')}
        return
    for text in renamed:
        old, new = ([document.tree for document in load(each, file).documents] for each in (lines.text, text))
        [(before, after)] = [pair for pair in zip(old, new, strict=True) if pair[0] != pair[1]]
        assert after == {**before, "metadata": {**before["metadata"], "name": "null"}}

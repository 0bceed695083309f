"""Peers on equal work: they make the very JobSets that trainform renders of torch jobs, which is verified first.

What they start from is made of what trainform renders, so it stays equal when that changes. For kustomize that is the
finished JobSets without the prefix of their names and without a label, which it adds. For helm and jsonnet it is one
JobSet as a template, and a list of what differs from job to job. They print to a file; trainform reads a TrainJob
from a file each and writes files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from benchmarks.generate import PREFIX, TORCH, File, Job, job_text, runtime_text, torch_files, write
from benchmarks.install import Peers
from benchmarks.measure import REFERENCE, Bench, Taken, in_turns, tell

RENDER = "trainform render, cold"
KUSTOMIZE = "kubectl kustomize, one kustomization"
OVERLAY = "kubectl kustomize, base and overlay"
HELM = "helm template, one range over values"
JSONNET = "jsonnet, one function"

LABELS = '  labels:\n    example.com/cost-center: "4711"\n'
CHANGES = f"""\
namePrefix: {PREFIX}
patches:
- target: {{kind: JobSet}}
  patch: |-
    - op: add
      path: /metadata/labels
      value: {{example.com/cost-center: "4711"}}
"""

# Values that stand for a job's own in the one JobSet that becomes a template.
NODES = 9973
SENTINELS = {"name": f"{PREFIX}sentinel-name", "namespace": "sentinel-namespace", "digest": "5e" * 32}

Objects = dict[tuple[str, str], Any]


class NotEqual(Exception):
    """A peer does not make the objects that trainform makes."""


@dataclass(frozen=True, slots=True)
class Torch:
    """A repository of torch jobs, and what trainform renders of it."""

    jobs: list[Job]
    root: Path

    def rendered(self) -> list[Path]:
        return sorted((self.root / "rendered").rglob("jobset-*.yaml"))

    def objects(self) -> Objects:
        return _by_name(tree for path in self.rendered() for tree in read_yaml(path.read_text()))

    def values(self) -> list[dict[str, Any]]:
        """What differs from job to job."""
        names = [*SENTINELS, "nodes"]
        return [{name: getattr(job, name) for name in names} for job in self.jobs]


def measure(bench: Bench, peers: Peers, jobs: int, rounds: int) -> dict[str, Taken]:
    """trainform and every peer that is there, in turns."""
    roots = [bench.scratch / f"torch-{jobs}-{number}" for number in range(rounds + 1)]
    for root in roots:
        write(root, torch_files(jobs))
    bench.trainform(roots[0], "render")
    torch = Torch([Job(number, TORCH) for number in range(jobs)], roots[0])
    fresh = iter(roots[1:])
    commands = prepare(bench, peers, torch)
    verify(bench, commands, torch.objects())

    def runner(command: Sequence[str]) -> Callable[[], Taken]:
        return lambda: bench.run(command, bench.scratch)

    steps: dict[str, Callable[[], Taken]] = {
        REFERENCE: bench.reference_loop,
        RENDER: lambda: bench.trainform(next(fresh), "render"),
        **{name: runner(command) for name, (command, _) in commands.items()},
    }
    return in_turns(rounds, steps, f"{jobs:,} torch jobs")


Reader = Callable[[str], Iterable[Any]]


def prepare(bench: Bench, peers: Peers, torch: Torch) -> dict[str, tuple[list[str], Reader]]:
    """Writes what each peer starts from; its command, and how its output is read."""
    folder = bench.scratch / f"peers-{len(torch.jobs)}"
    template = sentinel_jobset(bench)
    commands: dict[str, tuple[list[str], Reader]] = {}
    if peers.kubectl:
        write(folder, kustomizations(torch.rendered()))
        for name, part in ((KUSTOMIZE, "kustomization"), (OVERLAY, "overlay")):
            commands[name] = ([str(peers.kubectl), "kustomize", str(folder / part)], read_yaml)
    if peers.helm:
        write(folder, chart(template, torch.values()))
        commands[HELM] = ([str(peers.helm), "template", "jobs", str(folder / "chart")], read_yaml)
    if peers.jsonnet:
        write(folder, program(template, torch.values()))
        code = "import sys, _gojsonnet as jsonnet; print(jsonnet.evaluate_file(sys.argv[1]))"
        path = f"import sys; sys.path.insert(0, {str(peers.jsonnet)!r}); "
        commands[JSONNET] = ([str(bench.python), "-c", path + code, str(folder / "jobs.jsonnet")], json.loads)
    return commands


def verify(bench: Bench, commands: dict[str, tuple[list[str], Reader]], expected: Objects) -> None:
    for name, (command, reader) in commands.items():
        printed = bench.scratch / "printed"
        bench.run(command, bench.scratch, stdout=printed)
        made = _by_name(reader(printed.read_text()))
        if made != expected:
            key = next(key for key in [*expected, *made] if made.get(key) != expected.get(key))
            raise NotEqual(f"{name}: JobSet {'/'.join(key)} differs")
        tell(f"{name}: the same {len(made):,} objects")


def kustomizations(rendered: Sequence[Path]) -> Iterable[File]:
    """One kustomization that changes 1,000 files, and an overlay that changes a base of the same."""
    resources = "resources:\n" + "".join(f"- {path.name}\n" for path in rendered)
    yield "kustomization/kustomization.yaml", resources + CHANGES
    yield "base/kustomization.yaml", resources
    yield "overlay/kustomization.yaml", "resources: [../base]\n" + CHANGES
    for path in rendered:
        text = unfinished(path.read_text())
        yield f"kustomization/{path.name}", text
        yield f"base/{path.name}", text


def unfinished(jobset: str) -> str:
    """A rendered JobSet without what kustomize adds: the prefix of its own name, and the label."""
    return re.sub(rf"^  name: {PREFIX}", "  name: ", jobset.replace(LABELS, "", 1), count=1, flags=re.MULTILINE)


def sentinel_jobset(bench: Bench) -> str:
    """What trainform renders of a job whose own values are sentinels."""
    stream = bench.scratch / "sentinel.yaml"
    job = job_text(SENTINELS["name"], SENTINELS["namespace"], TORCH, NODES, SENTINELS["digest"])
    stream.write_text(f"{runtime_text(TORCH)}---\n{job}")
    printed = bench.scratch / "sentinel-jobset.yaml"
    bench.run([str(bench.python), "-m", "trainform", "render", "-"], bench.scratch, stdin=stream, stdout=printed)
    return printed.read_text()


def chart(jobset: str, values: list[dict[str, Any]]) -> Iterable[File]:
    """A chart whose one template is text with a `range`: no function of helm but that."""
    text = jobset.removeprefix("---\n")
    for name, sentinel in (*SENTINELS.items(), ("nodes", str(NODES))):
        text = text.replace(sentinel, f"{{{{ .{name} }}}}")
    yield "chart/Chart.yaml", "apiVersion: v2\nname: jobs\nversion: 1.0.0\n"
    yield "chart/values.yaml", json.dumps({"jobs": values}, indent=1)
    yield "chart/templates/jobs.yaml", f"{{{{- range .Values.jobs }}}}\n---\n{text}{{{{- end }}}}\n"


def program(jobset: str, values: list[dict[str, Any]]) -> Iterable[File]:
    """A function from a job's own values to its JobSet, called for each of a list."""
    function = jsonnet_of(yaml.safe_load(jobset))
    yield "values.json", json.dumps(values)
    yield "jobs.jsonnet", f"local jobset(job) = {function};\n[jobset(job) for job in import 'values.json']\n"


def jsonnet_of(tree: Any) -> str:
    """An expression that makes `tree`, the values of `job` where it has sentinels."""
    if isinstance(tree, dict):
        return "{" + ", ".join(f"{json.dumps(key)}: {jsonnet_of(value)}" for key, value in tree.items()) + "}"
    if isinstance(tree, list):
        return "[" + ", ".join(map(jsonnet_of, tree)) + "]"
    if tree == NODES:
        return "job.nodes"
    text = json.dumps(tree)
    for name, sentinel in (*SENTINELS.items(), ("nodes", str(NODES))):
        text = text.replace(sentinel, f'" + job.{name} + "')
    return text


def read_yaml(text: str) -> list[Any]:
    return [tree for tree in yaml.load_all(text, yaml.CSafeLoader) if tree]


def _by_name(trees: Iterable[Any]) -> Objects:
    return {(tree["metadata"]["namespace"], tree["metadata"]["name"]): tree for tree in trees}

"""What a job comes to, behind its lines."""

from __future__ import annotations

import pytest

from support.marked import ENVIRONMENT, QUEUES, RUNTIME, job, marked
from trainform.diagnostics import Position
from trainform.editor.features.inlay import inlay_hints
from trainform.editor.positions import Span

ALL = Span(Position(1, 1), Position(1000, 1))
PRICES = '  prices: {currency: USD, resources: {nvidia.com/gpu: "2.50"}}\n'
GPUS = "trainer:\n  numNodes: 4\n  resourcesPerNode: {limits: {nvidia.com/gpu: 8}}\n"


def told(here, visible: Span = ALL) -> list[str]:
    found = inlay_hints(here.snapshot, "jobs/llm.yaml", visible)
    lines = here.snapshot.lines("jobs/llm.yaml")
    return [f"{lines.line(at.line)[: at.column - 1].strip()} | {label}" for at, label in found]


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        (GPUS, ["name: llm | 4 pods, nvidia.com/gpu 32", "numNodes: 4 | 4 nodes × 8 processes"]),
        ("trainer: {numNodes: 2}", ["name: llm | 2 pods", "trainer: {numNodes: 2 | 2 nodes × 1 process"]),
        ("", ["name: llm | 1 pod", "runtimeRef: {name: torch | 1 node × 1 process"]),
        ("trainer: {numProcPerNode: 3}", ["name: llm | 1 pod", "runtimeRef: {name: torch | 1 node × 3 processes"]),
        ("trainer: {numNodes: none}", []),
    ],
)
def test_a_job_shows_its_pods_its_devices_and_its_processes(tmp_path, spec, found):
    assert told(marked(tmp_path, {"jobs/llm.yaml": job(spec=spec), "runtimes/torch.yaml": RUNTIME})) == found


def test_queue_and_cost_are_those_of_the_environment(tmp_path):
    files = {"jobs/llm.yaml": job(spec=GPUS), "runtimes/torch.yaml": RUNTIME, "environments/prod/queues.yaml": QUEUES}
    here = marked(tmp_path, {**files, "environments/prod/environment.yaml": ENVIRONMENT + PRICES})
    assert told(here)[0] == "name: llm | 4 pods, nvidia.com/gpu 32, queue team-a, 80.00 USD per hour"


def test_environments_that_differ_are_told_apart(tmp_path):
    dev = "apiVersion: trainform.dev/v1alpha1\nkind: Environment\nmetadata: {name: dev}\n"
    files = {"jobs/llm.yaml": job(spec=GPUS), "runtimes/torch.yaml": RUNTIME, "environments/prod/queues.yaml": QUEUES}
    own = {"environments/prod/environment.yaml": ENVIRONMENT, "environments/dev/environment.yaml": dev}
    assert told(marked(tmp_path, {**files, **own})) == [
        "name: llm | dev: 4 pods, nvidia.com/gpu 32; prod: 4 pods, nvidia.com/gpu 32, queue team-a",
        "numNodes: 4 | 4 nodes × 8 processes",
    ]


def test_what_is_not_visible_has_no_hints(tmp_path):
    here = marked(tmp_path, {"jobs/llm.yaml": job(spec=GPUS), "runtimes/torch.yaml": RUNTIME})
    assert told(here, Span(Position(5, 1), Position(1000, 1))) == ["numNodes: 4 | 4 nodes × 8 processes"]

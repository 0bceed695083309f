"""The capacity corpus: small repositories, and what Kueue's scheduler made of the jobs in each."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from support.corpus import FOLDER
from trainform.workspace.discovery import discover
from trainform.workspace.review.capacity import hold

CORPUS = FOLDER / "capacity.jsonl.gz"


class Scenario(NamedTuple):
    """`files` by path. `alone` has Kueue's verdict on each job by itself on an empty cluster: `admitted`, `never`, or
    `no-workload` if Kueue refuses the JobSet. `together` says of the jobs admitted alone whether they are `admitted`
    or `wait` when all arrive at once."""

    id: str
    family: str
    files: dict[str, str]
    alone: dict[str, dict[str, str]]
    together: dict[str, str] | None = None


def scenarios() -> Iterator[Scenario]:
    with gzip.open(CORPUS, "rt", encoding="utf-8") as lines:
        yield from (Scenario(**json.loads(line)) for line in lines)


class Answer(NamedTuple):
    """Our verdict on a job: `refused` if it does not render, because of the errors in `reason`."""

    verdict: str
    reason: str


def answers(files: dict[str, str], folder: Path) -> dict[str, Answer]:
    """What `trainform capacity` says of each job in a repository of these files."""
    for path, text in {"trainform.yaml": "", **files}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    held = hold(discover(str(folder)))
    refused = {
        f"{job.namespace}/{job.name}": "; ".join(each.code + " " + each.message for each in job.diagnostics)
        for job in held.outcome.jobs
        if any(each.severity == "error" for each in job.diagnostics)
    }
    found = {name: Answer("refused", reason) for name, reason in refused.items()}
    for capacity in held.environments.values():
        for job in capacity.jobs:
            found[f"{job.namespace}/{job.name}"] = Answer(job.verdict, job.reason)
    return found

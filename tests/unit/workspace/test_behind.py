"""Jobs that are behind are told by what changed, each with the command that renders them from it."""

from __future__ import annotations

from typing import Any

import pytest

from trainform.workspace.behind import behind, behind_diagnostics, merge
from trainform.workspace.fingerprint import Cause

JOBS = [("prod", "ml", "a"), ("prod", "ml", "b")]


@pytest.mark.parametrize(
    ("kind", "what", "command"),
    [
        ("runtime", "torch", "trainform upgrade --runtime torch"),
        ("environment", "prod", "trainform upgrade --env prod"),
        ("compiler", "1.2.3", "trainform upgrade --all"),
        ("key", "ml/keys", "trainform upgrade --all"),
    ],
)
def test_each_cause_names_the_command_that_renders_its_jobs(kind, what, command):
    [told] = behind_diagnostics({Cause(kind, what, "why"): JOBS})
    assert (told.code, told.severity) == ("TF715", "info")
    assert told.hint == f"nothing changes until you run `{command}`; add --dry-run to preview"
    assert told.message.startswith("2 jobs")


def test_jobs_of_several_chunks_are_one_list_for_each_cause():
    first, second = Cause("environment", "prod", "a"), Cause("runtime", "torch", "b")
    found = merge([{second: JOBS[:1]}, {first: JOBS[:1], second: JOBS[1:]}])
    assert list(found.items()) == [(first, JOBS[:1]), (second, JOBS)]


class Inputs:
    """Today's inputs of an Environment, which changed for the jobs of one namespace."""

    def __init__(self, environment: str, namespace: str) -> None:
        self.cause, self.namespace = Cause("environment", environment, "changed"), namespace

    def causes(self, pins: object, namespace: str) -> list[Cause]:
        return [self.cause] if namespace == self.namespace else []


def test_each_job_is_judged_by_the_inputs_of_its_own_environment_and_namespace():
    pins: Any = None
    current: dict[str, Any] = {"prod": Inputs("prod", "ml"), "dev": Inputs("dev", "ml")}
    jobs = [("prod", "ml", "a"), ("prod", "other", "b"), ("dev", "ml", "c"), ("prod", "ml", "d")]
    found = behind([(job, pins) for job in jobs], current)
    assert list(found.items()) == [(current["dev"].cause, jobs[2:3]), (current["prod"].cause, [jobs[0], jobs[3]])]

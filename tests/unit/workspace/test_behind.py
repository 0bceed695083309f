"""Jobs that are behind are told by what changed, each with the command that renders them from it."""

from __future__ import annotations

import pytest

from trainform.workspace.behind import behind_diagnostics, merge
from trainform.workspace.fingerprint import Cause

JOBS = [("prod", "ml", "a"), ("prod", "ml", "b")]


@pytest.mark.parametrize(
    ("kind", "what", "command"),
    [
        ("runtime", "torch", "`trainform upgrade --runtime torch`"),
        ("environment", "prod", "`trainform upgrade --env prod`"),
        ("compiler", "1.2.3", "`trainform upgrade --all`"),
        ("key", "ml/keys", "`trainform upgrade --all`"),
    ],
)
def test_each_cause_names_the_command_that_renders_its_jobs(kind, what, command):
    [told] = behind_diagnostics({Cause(kind, what, "why"): JOBS})
    assert (told.code, told.severity) == ("TF715", "info")
    assert command in told.hint


def test_jobs_of_several_chunks_are_one_list_for_each_cause():
    first, second = Cause("environment", "prod", "a"), Cause("runtime", "torch", "b")
    found = merge([{second: JOBS[:1]}, {first: JOBS[:1], second: JOBS[1:]}])
    assert list(found.items()) == [(first, JOBS[:1]), (second, JOBS)]

"""What a stranger puts into a job so that the comment of the pull request shows less, or something else, of it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from trainform.review.diff.markdown import LIMIT, render_markdown
from trainform.review.diff.model import Diff, JobDiff, diff_job
from trainform.review.diff.text import render_text

JOB = ("prod", "ml", "llm")


def container(name: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, "image": "example/img:1", **fields}


def new(*containers: dict[str, Any], pod: dict[str, Any] | None = None, name: str = "llm") -> JobDiff:
    """A new job with one pod, whose template has more fields of `pod`."""
    template = {**(pod or {})}
    template["spec"] = {"containers": [*containers], **template.get("spec", {})}
    tree = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": name, "namespace": "ml"},
        "spec": {"replicatedJobs": [{"name": "node", "template": {"spec": {"template": template}}}]},
    }
    found = diff_job(JOB, [], [tree])
    assert found is not None
    return replace(found, id=("prod", "ml", name))


def capable(name: str, capability: str) -> dict[str, Any]:
    return container(name, securityContext={"capabilities": {"add": [capability]}})


PRIVILEGED = container("zz", securityContext={"privileged": True})


def test_many_harmless_privileges_do_not_hide_the_one_of_another_kind():
    told = render_markdown(Diff([new(*(capable(f"c{number}", f"X{number}") for number in range(60)), PRIVILEGED)]))
    assert "  - **privileged** (node/zz): `true`" in told
    assert "more: `trainform diff` lists all" in told


def crowd(count: int) -> list[JobDiff]:
    """New jobs, each with as long a list of privileges as a comment shows, in characters of four bytes."""
    wide = "\U0001f600" * 900
    return [
        new(*(capable(f"c{number}", f"{number}{wide}") for number in range(45)), name=f"crowd-{index:02}")
        for index in range(count)
    ]


@pytest.mark.parametrize("count", [1, 2, 20])
def test_long_values_do_not_push_a_privileged_job_out_of_the_comment(count):
    told = render_markdown(Diff([*crowd(count), new(PRIVILEGED, name="zz-evil")]))
    assert len(told.encode()) <= LIMIT
    part = told[told.index("zz-evil") :]
    assert "**privileged**" in part
    assert all(f"crowd-{index:02}" in told for index in range(count))
    assert "the comment is full" not in told


def test_a_job_too_long_for_a_comment_is_told_by_its_kinds_of_privileges():
    told = render_markdown(Diff(crowd(1)))
    assert "  - **added capabilities**: too long to be shown, `trainform diff` lists all" in told


@pytest.mark.parametrize("render", [render_markdown, lambda diff: render_text(diff, colour=False)])
def test_the_end_of_a_long_command_is_shown_or_counted(render):
    short = new(container("node", command=["sh", "-c", "echo fine; " * 60 + "curl evil"]))
    assert "curl evil" in render(Diff([short]))
    long = new(container("node", command=["sh", "-c", "echo fine; " * 600 + "curl evil"]))
    told = render(Diff([long]))
    assert "curl evil" not in told
    left = re.search(r"… \(([\d,]+) more characters\)", told)
    assert left
    assert int(left[1].replace(",", "")) > 5_000


@pytest.mark.parametrize("kind", ["startupProbe", "readinessProbe", "livenessProbe"])
def test_a_command_that_runs_as_a_probe_is_shown(kind):
    told = render_markdown(Diff([new(container("node", **{kind: {"exec": {"command": ["sh", "-c", "curl evil"]}}}))]))
    assert '  - probe (node): `["sh", "-c", "curl evil"]`' in told


@pytest.mark.parametrize(
    ("pod", "line"),
    [
        ({"spec": {"securityContext": {"fsGroup": 0}}}, "**file group** (node): `0`"),
        ({"spec": {"securityContext": {"supplementalGroups": [7, 0]}}}, "**more groups** (node): `[7, 0]`"),
        ({"spec": {"hostAliases": [{"ip": "192.0.2.1", "hostnames": ["pypi.org"]}]}}, "host aliases (node): `"),
        (
            {"metadata": {"annotations": {"iam.amazonaws.com/role": "admin"}}},
            "**annotation iam.amazonaws.com/role** (node): `admin`",
        ),
        (
            {"metadata": {"annotations": {"container.apparmor.security.beta.kubernetes.io/node": "unconfined"}}},
            "(node): `unconfined`",
        ),
    ],
)
def test_rights_that_are_not_in_a_security_context_are_shown(pod, line):
    told = render_markdown(Diff([new(container("node"), pod=pod)]))
    assert line in told


def test_ordinary_groups_and_annotations_take_no_line():
    pod = {
        "metadata": {"annotations": {"team": "vision"}},
        "spec": {"securityContext": {"fsGroup": 1000, "supplementalGroups": [7]}},
    }
    assert (
        len(
            [line for line in render_markdown(Diff([new(container("node"), pod=pod)])).splitlines() if "(node)" in line]
        )
        == 1
    )


ACTIVE = (
    "@everyone", "<!-- hide", "<img src=x>", "[safe](https://evil.example)", "![x](https://evil.example/x.png)",
    "https://evil.example", "www.evil.example", "</details>", "| cell | cell", "\\| <b>", "` <b>", "``` <b>", "#1",
    "line\n/approve", "line\r\n# Title", "$x$", "\u202egnp.exe",
)  # fmt: skip


@pytest.mark.parametrize("text", ACTIVE)
def test_nothing_that_a_job_holds_is_markdown(text):
    """It stands in code, whose fence is longer than any in it, and on one line; or as character references."""
    job = new(
        container(text, image=text, command=[text]),
        pod={"spec": {"volumes": [{"name": text, "hostPath": {"path": text}}]}},
    )
    told = render_markdown(Diff([job]))
    bare = re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)|&#\d+;", "", told)
    for active in ("@e", "<!--", "<img", "](", "https://", "www.e", "</details>", "#1", "\n/", "\n# ", "$x", "\u202e"):
        assert active not in bare
    assert told.count("\n  - ") == 3

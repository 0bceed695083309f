"""Streams on standard input: compiled in batches, told as one."""

from __future__ import annotations

import json

import pytest

import trainform as api
from trainform.workspace.streams import compile as stream
from unit.cli.conftest import job

ENVIRONMENT = """\
apiVersion: trainform.dev/v1alpha1
kind: Environment
metadata: {name: prod}
spec:
  patches:
  - target: {kind: JobSet, name: d}
    patch: {metadata: {labels: {team: d}}}
"""


@pytest.fixture(autouse=True, params=[1, 2], ids=["one process", "two processes"])
def batches_of_two(request, monkeypatch):
    monkeypatch.setattr(stream, "BATCH", 2)
    monkeypatch.setattr("trainform.io.workers.processors", lambda: request.param)


def of(*documents: str) -> str:
    return "---\n".join(documents)


FIVE = of(*map(job, "abcde"))


def test_manifests_are_in_the_order_of_the_jobs(trainform):
    ran = trainform("render", "-", stdin=FIVE)
    assert ran.code == 0
    assert [line for line in ran.out.splitlines() if line.startswith("  name: ")] == [
        f"  name: {name}" for name in "abcde"
    ]
    assert ran.out.count("\n---\n") == ran.out.count("kind: ") - 1
    assert not ran.out.startswith("---")


@pytest.mark.parametrize("given", [FIVE, of(job("a"), job("b", "many"), job("c")), "", "a: b\n"])
def test_json_is_what_the_python_api_returns(trainform, given):
    ran = trainform("render", "-", "--format", "json", stdin=given)
    assert json.loads(ran.out) == api.compile_stream(given)
    assert ran.out == json.dumps(api.compile_stream(given), indent=2, ensure_ascii=False) + "\n"


def test_nothing_is_printed_where_one_batch_has_an_error(trainform):
    ran = trainform("render", "-", stdin=of(*map(job, "abcd"), job("e", "many")))
    assert (ran.code, ran.out) == (2, "")
    assert "<stdin>:58:15: error TF102" in ran.err


def test_the_good_jobs_of_every_batch_are_kept(trainform):
    ran = trainform("render", "-", "--keep-going", stdin=of(job("a", "many"), job("b", "many"), *map(job, "cd")))
    assert ran.code == 2
    assert ran.out.startswith("apiVersion: ")
    assert ran.out.count("kind: JobSet") == 2


def test_a_patch_may_match_in_any_batch(trainform):
    ran = trainform("render", "-", stdin=of(ENVIRONMENT, FIVE))
    assert ran.code == 0
    assert ran.out.count("team: d") == 1


def test_a_patch_that_matches_in_no_batch_is_an_error(trainform):
    ran = trainform("render", "-", stdin=of(ENVIRONMENT, *map(job, "abc")))
    assert (ran.code, ran.out) == (2, "")
    assert "matches nothing in any job" in ran.err


def test_two_jobs_of_one_name_are_an_error_across_batches(trainform):
    ran = trainform("validate", "-", stdin=of(FIVE, job("a")))
    assert ran.code == 2
    assert "TF203" in ran.out


def test_comments_silence_findings_of_their_batch(trainform):
    noisy = [job(name).replace("numNodes: 2", "numNodes: 2\n    image: example/img") for name in "abcde"]
    shown = trainform("validate", "-", stdin=of(*noisy)).out.count("TF607")
    silenced = [each.replace("example/img", "example/img  # trainform: ignore TF607 -- a test") for each in noisy]
    ran = trainform("validate", "-", stdin=of(noisy[0], *silenced[1:]))
    assert (shown, ran.out.count("TF607"), "TF640" in ran.out) == (5, 1, False)

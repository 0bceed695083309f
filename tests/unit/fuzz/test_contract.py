"""A run that breaks a promise is noticed, whichever it is; a good one is not."""

from __future__ import annotations

import json

import pytest

from fuzz.case import Step
from fuzz.contract import broken
from fuzz.place import SECRET
from fuzz.process import CPU_LIMIT, MEMORY_LIMIT, Ran

FINE = Ran(0, b"", b"", 0.1, 50 << 20)
BUG = b"""Traceback (most recent call last):
  File "/x/trainform/core/plan.py", line 7, in place
TypeError: unhashable type: 'list'
"""
SARIF = {
    "version": "2.1.0",
    "runs": [{"tool": {"driver": {}}, "results": [{"ruleId": "TF1", "message": {"text": "x"}}]}],
}


def faults(ran: Ran, *arguments: str) -> list[str]:
    return [failure.what for failure in broken(Step(arguments or ("validate",)), ran)]


@pytest.mark.parametrize(
    ("ran", "fault"),
    [
        (FINE._replace(code=70, err=BUG), "internal error"),
        (FINE._replace(code=2, err=BUG), "internal error"),
        (FINE._replace(code=3), "exit code 3"),
        (FINE._replace(code=-11), "exit code -11"),
        (FINE._replace(hung=True), "hangs"),
        (FINE._replace(seconds=CPU_LIMIT + 0.1), "slow"),
        (FINE._replace(memory=MEMORY_LIMIT + 1), "memory"),
        (FINE._replace(out=SECRET.encode()), "prints a file outside of the repository"),
        (FINE._replace(err=b"jobs/\x1b[2J.yaml"), "control character"),
        (FINE._replace(out=b"a\rb"), "control character"),
        (FINE._replace(out="a\u2028b".encode()), "control character"),
        (FINE._replace(out=b"\xff"), "not UTF-8"),
        (FINE._replace(err=b"jobs/x.yaml: error\n::set-output name=x::y"), "workflow command"),
        (FINE._replace(out=b"x ##[error]y"), "workflow command"),
    ],
)
def test_a_broken_promise_is_noticed(ran, fault):
    assert faults(ran) == [fault]


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("json", "{"),
        ("json", '{"a": NaN}'),
        ("sarif", json.dumps({"version": "2.0", "runs": []})),
        ("sarif", json.dumps(SARIF)),
        ("junit", "<testsuites><testsuite tests='2'><testcase/></testsuite></testsuites>"),
        ("junit", "<testsuites>"),
    ],
)
def test_output_that_is_not_of_its_format_is_noticed(form, text):
    assert faults(FINE._replace(out=text.encode()), "validate", "--format", form) == [f"invalid {form}"]


def test_a_bug_is_named_by_its_place_in_the_code():
    (failure,) = broken(Step(("render",)), FINE._replace(code=70, err=BUG))
    assert failure.where == "TypeError in trainform/core/plan.py:place"


@pytest.mark.parametrize(
    ("arguments", "ran"),
    [
        (("validate",), FINE),
        (("validate",), FINE._replace(code=2, err=b"jobs/x.yaml:1:1: error TF001: no\n")),
        (("diff",), FINE._replace(code=1, out=b"ml/llm restart\n")),
        (("validate", "--format", "github"), FINE._replace(out=b"::error file=x::y\n")),
        (("validate", "--format", "json"), FINE._replace(out='{"a": "\u2028"}'.encode())),
        (("render", "-"), FINE._replace(out=b"a: '::x::y'\n")),
    ],
)
def test_a_good_run_breaks_none(arguments, ran):
    assert faults(ran, *arguments) == []

"""The health checks for Flux, evaluated by its rules: each top-level key of the object is a variable."""

from __future__ import annotations

from typing import Any

import pytest
from cel_expr_python import cel

from support.health_cases import CASES, JOBSET, KINDS, Case
from trainform.output.flux import HEALTH_CHECKS

ORDER = {"inProgress": "InProgress", "failed": "Failed", "current": "Current"}
"""Expressions in the order in which Flux tries them, and what a true one means."""

VARIABLES = dict.fromkeys(("apiVersion", "kind", "metadata", "spec", "status"), cel.Type.DYN)


def checks_of(tree: dict[str, Any]) -> dict[str, str]:
    kind = (tree["apiVersion"], tree["kind"])
    return next(check for check in HEALTH_CHECKS if (check["apiVersion"], check["kind"]) == kind)


def status(tree: dict[str, Any]) -> str:
    """What Flux tells: `Unknown` where an expression fails, which it waits out as if in progress."""
    environment = cel.NewEnv(variables=VARIABLES)
    for name, meaning in ORDER.items():
        if expression := checks_of(tree).get(name):
            value = environment.compile(expression).eval(data=tree)
            if value.type() == cel.Type.ERROR:
                return "Unknown"
            assert value.type() == cel.Type.BOOL
            if value.plain_value():
                return meaning
    return "InProgress"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_status(case: Case):
    assert status(case.object) == case.flux


def test_training_holds_no_commit_back():
    """Once seen by its controller, or suspended, a JobSet is ready or failed: Flux waits for neither."""
    seen = [case for case in CASES if case.kind == JOBSET and "conditions" in case.object.get("status", {})]
    queued = [case for case in CASES if case.kind == JOBSET and case.object["spec"].get("suspend")]
    assert {status(case.object) for case in (*seen, *queued)} == {"Current", "Failed"}


def test_every_kind_has_one_check():
    found = [f"{check['apiVersion'].partition('/')[0]}_{check['kind']}" for check in HEALTH_CHECKS]
    assert found == list(KINDS)

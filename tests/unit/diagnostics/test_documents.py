"""The JSON that programs read."""

from __future__ import annotations

from types import SimpleNamespace

from trainform.diagnostics import Diagnostic
from trainform.diagnostics.documents import render_result, validate_result

PROBLEM = Diagnostic("TF201", "error", "runtime not found", "did you mean …?", ("spec", "runtimeRef"))
PROBLEM_JSON: dict[str, object] = {
    "code": "TF201",
    "severity": "error",
    "message": "runtime not found",
    "field": "spec.runtimeRef",
    "file": None,
    "line": None,
    "column": None,
    "hint": "did you mean …?",
    "plugin": None,
    "object": None,
    "objectField": None,
    "jobs": [],
}


def test_a_render_result_holds_jobs_and_what_concerns_them_all():
    job = SimpleNamespace(
        name="llm",
        namespace="ml",
        environment="default",
        objects=[{"kind": "JobSet"}],
        diagnostics=[PROBLEM],
        deviations=["D01"],
    )
    assert render_result([job], []) == {
        "apiVersion": "trainform.dev/v1alpha1",
        "kind": "RenderResult",
        "jobs": [
            {
                "name": "llm",
                "namespace": "ml",
                "environment": "default",
                "objects": [{"kind": "JobSet"}],
                "diagnostics": [PROBLEM_JSON],
                "deviations": ["D01"],
            }
        ],
        "diagnostics": [],
    }


def test_a_validate_result_holds_every_problem():
    assert validate_result([PROBLEM]) == {
        "apiVersion": "trainform.dev/v1alpha1",
        "kind": "ValidateResult",
        "diagnostics": [PROBLEM_JSON],
    }

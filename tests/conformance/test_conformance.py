"""The whole corpus: our answers equal the controller's, but for the named deviations."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

import trainform
from support.compare import all_but, masked, normalised, same_field
from support.corpus import FAMILIES, Case, cases
from support.stored import empty_maps, loose_quantities
from trainform.k8s.defaults import admit

ERRORS = {"D02", "D04", "D06"}
"""Deviations that refuse what the controller would render."""

CASES = [pytest.param(case, id=case.id) for family in FAMILIES for case in cases(family)]


@cache
def compiled(text: str) -> dict[str, Any]:
    return trainform.compile_stream(text)


@pytest.mark.parametrize("case", CASES)
def test_the_answer_is_the_controllers(case: Case) -> None:
    result = compiled(case.input)
    assert len(result["jobs"]) == len(case.expected)
    for job, expected in zip(result["jobs"], case.expected, strict=True):
        errors = [d for d in (*job["diagnostics"], *result["diagnostics"]) if d["severity"] == "error"]
        missing = list(unanswered(expected, errors, job["deviations"]))
        assert not missing, missing
        if is_refused(expected, job["deviations"]):
            assert not job["objects"]
            assert errors
        else:
            assert not [d for d in job["diagnostics"] if d["severity"] == "error"]
            assert_same_objects(job, expected)


@pytest.mark.parametrize("case", CASES)
def test_the_api_server_changes_nothing(case: Case) -> None:
    """Whatever it changed would be a difference that Argo CD shows for ever."""
    for tree in (tree for job in compiled(case.input)["jobs"] for tree in job["objects"]):
        assert admit(tree) == tree
        assert not empty_maps(tree)
        assert not loose_quantities(tree)


def is_refused(expected: dict[str, Any], deviations: list[str]) -> bool:
    if any(expected[kind] for kind in ("webhook", "crd", "pruned", "error")):
        return True
    if any(is_broken(document) for document in expected.get("documents") or ()):
        return True
    if ERRORS.intersection(deviations):
        return True
    return any(not is_mended(rejection, deviations) for rejection in expected.get("rejected") or ())


def is_broken(document: dict[str, Any]) -> bool:
    """Whether a runtime cannot be used. The cluster itself names a failure policy rule without a name."""
    mended = ("failurePolicy.rules[0].name", "<nil>")
    errors = [error for error in document["errors"] if not error["field"].endswith(mended)]
    return bool(errors or document["pruned"] or document["webhook"])


def unanswered(expected: dict[str, Any], errors: list[dict[str, Any]], deviations: list[str]) -> Any:
    """Upstream's complaints that no error of ours answers."""
    for told in (expected, *(expected.get("documents") or ())):
        for complaint in (*told.get("crd", ()), *told.get("errors", ()), *told["webhook"]):
            if not any(same_field(error["field"], complaint["field"]) for error in errors):
                yield complaint
        for field in told["pruned"] or ():
            if not any(error["field"] == field for error in errors):
                yield field
    for rejection in expected.get("rejected") or ():
        if not is_mended(rejection, deviations) and not any(answers(error, rejection) for error in errors):
            yield rejection


def answers(error: dict[str, Any], rejection: dict[str, Any]) -> bool:
    if not error["object"]:
        return error["code"] in {f"TF{deviation}" for deviation in ERRORS}
    kind_fits = error["object"].split("/")[0] == rejection["kind"]
    return kind_fits and rejection["field"] in ("", "<nil>", error["objectField"])


MENDED = {"ports[": "D01", "minMember": "D02"}


def is_mended(rejection: dict[str, Any], deviations: list[str]) -> bool:
    """Whether a deviation of ours renders something that is not rejected."""
    return any(part in rejection["field"] and code in deviations for part, code in MENDED.items())


def assert_same_objects(job: dict[str, Any], expected: dict[str, Any]) -> None:
    ours = normalised(job["objects"])
    theirs = normalised([o for o in expected["objects"] if o["kind"] != "JobSet"] + expected["admitted"])
    deviations = job["deviations"]
    assert masked(ours, deviations) == masked(theirs, deviations)
    for deviation in deviations:
        others = all_but(deviations, deviation)
        assert masked(ours, others) != masked(theirs, others), f"{deviation} makes no difference"

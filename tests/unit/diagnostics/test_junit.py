"""JUnit reports, held against the schema that Jenkins' xUnit plugin checks reports with."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
import xmlschema

from trainform.diagnostics.junit import render_junit
from unit.diagnostics.problems import ALL, NOWHERE, SHARED, TAG, TYPE, place

SCHEMA = xmlschema.XMLSchema(Path(__file__).parents[2] / "support" / "junit.xsd")


def suite(problems, files=(), **options):
    """The one suite of a report that is valid."""
    text = render_junit(problems, files, **options)
    SCHEMA.validate(text)
    (only,) = ElementTree.fromstring(text.encode())
    return only


def outcomes(found):
    return {case.get("name"): [child.tag for child in case] for case in found}


def test_the_schema_itself_refuses():
    with pytest.raises(xmlschema.XMLSchemaValidationError):
        SCHEMA.validate(
            '<testsuites><testsuite name="x" tests="1" failures="0" errors="0"><testcase/></testsuite></testsuites>'
        )


def test_a_case_for_each_file_and_for_what_is_of_none():
    found = suite(ALL, ["runtimes/good.yaml", "jobs/llm.yaml"])
    assert outcomes(found) == {
        "<stdin>": ["failure"],
        "jobs/llm.yaml": ["failure", "system-out"],
        "runtimes/good.yaml": [],
        "the repository as a whole": ["failure"],
    }
    assert [found.get(name) for name in ("name", "tests", "failures", "errors")] == [
        "trainform validate",
        "4",
        "3",
        "0",
    ]


def test_a_fault_that_many_jobs_share_is_told_once():
    failure = suite(SHARED).find("testcase/failure")
    assert failure.get("message") == "no such volume"
    assert "note: in the rendered JobSet/bert (and 2 more)\n" in failure.text
    assert failure.text.endswith("1 error in 1 file\n")


def test_a_failure_tells_all_that_a_terminal_would():
    failure = suite([TYPE, TYPE._replace(message="<b> & \x1b[31m")]).find("testcase/failure")
    assert failure.attrib == {"type": "TF102", "message": "<b> & \\x1b[31m (and 1 more)"}
    assert "error TF102 spec.trainer.numNodes: must be a number" in failure.text
    assert "4 |     numNodes: many # 100 %" in failure.text
    assert "\x1b" not in failure.text


@pytest.mark.parametrize(("grave", "tags"), [("error", ["system-out"]), ("warning", ["failure"])])
def test_how_grave_a_failure_is(grave, tags):
    assert outcomes(suite([TAG], grave=grave)) == {"jobs/llm.yaml": tags}


def test_nothing_to_tell():
    assert outcomes(suite([], ["jobs/llm.yaml"])) == {"jobs/llm.yaml": []}
    assert outcomes(suite([])) == {}


def test_a_file_is_a_case_once():
    assert outcomes(suite([NOWHERE, TYPE, TAG], ["jobs/llm.yaml"])).keys() == {
        "jobs/llm.yaml",
        "the repository as a whole",
    }


def test_a_name_that_needs_escapes():
    name = 'jobs/"a"&<b>.yaml'
    assert outcomes(suite([TYPE._replace(place=place(name))])) == {name: ["failure"]}

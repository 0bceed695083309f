"""The bill of materials."""

from __future__ import annotations

import json
from importlib.resources import files

import jsonschema_rs
import pytest

from release.sbom import Pin, bill_of_materials, pins
from support.ci import ROOT
from unit.release.conftest import URL

LOCK = """\
# Written by scripts/lock_dependencies.py.
colorama==0.4.6 ; sys_platform == 'win32' \\
    --hash=sha256:0000
    # via click
click==8.5.1 \\
    --hash=sha256:0000 \\
    --hash=sha256:1111
typing-extensions==4.16.0 \\
    --hash=sha256:0000
    # via
    #   pydantic
    #   pydantic-core
"""


def test_pins_are_read_with_what_needs_them():
    assert pins(LOCK) == [
        Pin("colorama", "0.4.6", ("click",), False),
        Pin("click", "8.5.1", (), True),
        Pin("typing-extensions", "4.16.0", ("pydantic", "pydantic-core"), True),
    ]


@pytest.fixture
def bill(tmp_path):
    wheel = tmp_path / "trainform.whl"
    wheel.write_bytes(b"wheel")
    return bill_of_materials(wheel, ROOT, "1.2.3", URL)


def test_it_is_valid_cyclonedx(bill):
    schemas = files("cyclonedx.schema").joinpath("_res")
    texts = {name: schemas.joinpath(f"{name}.SNAPSHOT.schema.json").read_text() for name in ("spdx", "jsf-0.82")}
    base = "http://cyclonedx.org/schema"
    registry = jsonschema_rs.Registry(
        [(f"{base}/{name}.SNAPSHOT.schema.json", json.loads(text)) for name, text in texts.items()]
    )
    schema = json.loads(schemas.joinpath("bom-1.6.SNAPSHOT.schema.json").read_text())
    validator = jsonschema_rs.validator_for(schema, registry=registry)
    assert [error.message for error in validator.iter_errors(json.loads(bill))] == []
    assert not validator.is_valid(json.loads(bill) | {"bomFormat": "other"})


def test_it_lists_what_trainform_needs_and_who_needs_it(bill):
    found = json.loads(bill)
    named = {each["name"]: each["purl"] for each in found["components"]}
    assert {"click", "jinja2", "markupsafe", "pydantic-core"} <= named.keys()
    needs = {each["ref"]: each["dependsOn"] for each in found["dependencies"]}
    assert named["click"] in needs["pkg:pypi/trainform@1.2.3"]
    assert needs[named["jinja2"]] == [named["markupsafe"]]
    assert set(needs) == {"pkg:pypi/trainform@1.2.3", *named.values()}


def test_it_says_what_the_schemas_derive_from(bill):
    ancestors = json.loads(bill)["metadata"]["component"]["pedigree"]["ancestors"]
    assert ("Kubernetes", "1.36") in {(each["name"], each["version"]) for each in ancestors}
    assert len(ancestors) == (ROOT / "NOTICE").read_text().count("(Copyright ")


def test_nothing_in_it_is_of_the_time_it_was_made(bill):
    assert "timestamp" not in bill
    assert "serialNumber" not in bill

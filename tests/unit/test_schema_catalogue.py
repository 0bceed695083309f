"""What is prepared for a catalogue of schemas."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml

SCRIPT = runpy.run_path(str(Path(__file__).parents[2] / "scripts" / "schema_catalogue.py"))
ADDRESS = "https://example.com/schemas"
FILES: dict[str, str] = SCRIPT["files"](ADDRESS)
EXAMPLES = [name for name in FILES if name.endswith(".yaml")]


def schema(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(FILES[f"schemas/{name}.json"])
    return found


def test_every_entry_leads_to_its_schema_and_has_examples_of_both_kinds():
    for entry in json.loads(FILES["catalog.json"]):
        assert entry["name"]
        assert entry["description"]
        name = entry["url"].removeprefix(f"{ADDRESS}/").removesuffix(".json")
        assert schema(name)["$id"] == entry["url"]
        assert any(each.startswith(f"test/{name}/") for each in EXAMPLES)
        assert any(each.startswith(f"negative_test/{name}/") for each in EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_valid_or_not_as_its_folder_says(name):
    folder, owner, _ = name.split("/")
    documents = [*yaml.safe_load_all(FILES[name])]
    validator = jsonschema_rs.Draft202012Validator(schema(owner))
    assert documents
    assert all(map(validator.is_valid, documents)) == (folder == "test")


def test_the_files_are_written(tmp_path, capsys):
    SCRIPT["main"](f"{ADDRESS}/", tmp_path)
    written = {str(path.relative_to(tmp_path)): path.read_text() for path in tmp_path.rglob("*") if path.is_file()}
    assert written == FILES
    assert len(capsys.readouterr().out.splitlines()) == len(FILES)

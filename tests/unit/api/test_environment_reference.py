"""docs/environments.md has every key of an Environment, in the words of the models."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import trainform
from support.environment_reference import keys, reference
from trainform.api.environment import EnvironmentSpec

PAGE = Path(__file__).parents[3] / "docs" / "environments.md"
START, END = "<!-- every key: generated from the models -->\n", "<!-- end of every key -->\n"


def test_the_page_is_up_to_date(request: pytest.FixtureRequest) -> None:
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(START)
    old, _, after = rest.partition(END)
    if request.config.getoption("--update-golden"):
        PAGE.write_text(before + START + reference() + END + after, encoding="utf-8")
    else:
        assert old == reference(), "pytest tests/unit/api/test_environment_reference.py --update-golden"


@pytest.mark.parametrize("key", sorted(keys() - {"apiVersion", "kind", "metadata", "spec"}))
def test_no_key_is_left_out(key):
    assert f".{key}`" in reference()


def children() -> dict[str, set[str]]:
    """The keys below each key, by its path on the page."""
    found: dict[str, set[str]] = {}
    for path in re.findall(r"^\| `(.*?)` \|", reference(), re.MULTILINE):
        parent, _, key = path.rpartition(".")
        found.setdefault(parent, set()).add(key)
    return found


def with_unknown_key(path: str) -> dict[str, Any]:
    """An Environment with a key `zz` below `path`, `spec.patches[].target`."""
    tree: Any = {"zz": 1}
    for part in reversed(path.split(".")):
        key = part.removesuffix("[]").replace("<name>", "node")
        tree = {key: [tree] if part.endswith("[]") else tree}
    head = {"apiVersion": "trainform.dev/v1alpha1", "kind": "Environment"}
    return {**head, **tree, "metadata": {"name": "prod", **tree.get("metadata", {})}}


def test_no_key_of_the_spec_is_left_out():
    assert {field.alias or name for name, field in EnvironmentSpec.model_fields.items()} == children()["spec"]


@pytest.mark.parametrize("path", sorted(children().keys() - {"spec"}))  # it has more keys than a message lists
def test_no_key_of_a_mapping_is_left_out(path):
    """What the parser knows below a key is exactly what the page has there."""
    found = trainform.compile_stream(json.dumps(with_unknown_key(path)))["diagnostics"]
    hint = next(each["hint"] for each in found if each["code"] == "TF101" and each["field"].endswith(".zz"))
    assert set(hint.removeprefix("known fields: ").split(", ")) == children()[path]

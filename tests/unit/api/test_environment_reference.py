"""docs/environment-keys.md has every key of an Environment, in the words of the models."""

from __future__ import annotations

import json
from typing import Any

import pytest

import trainform
from pages.keys import REQUIRED, keys
from trainform.api.environment import EnvironmentMetadata, EnvironmentSpec

KEYS = {key.path: key for key in (*keys("metadata", EnvironmentMetadata), *keys("spec", EnvironmentSpec))}


def children() -> dict[str, set[str]]:
    """The keys below each key, by its path on the page."""
    found: dict[str, set[str]] = {}
    for path in KEYS:
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


def faults(spec: dict[str, Any]) -> list[str]:
    tree = {"apiVersion": "trainform.dev/v1alpha1", "kind": "Environment", "metadata": {"name": "prod"}, "spec": spec}
    return [each["field"] for each in trainform.compile_stream(json.dumps(tree))["diagnostics"]]


@pytest.mark.parametrize("path", [path for path, key in KEYS.items() if key.default == REQUIRED and "spec" in path])
def test_a_key_without_a_default_is_missed(path):
    """An Environment that has nothing below the parent of a required key is told to have it."""
    tree: Any = {}
    *parents, key = path.split(".")[1:]
    for part in reversed(parents):
        tree = {part.removesuffix("[]").replace("<name>", "node"): [tree] if part.endswith("[]") else tree}
    assert any(field.endswith(f".{key}") or field.endswith(parents[-1].removesuffix("[]")) for field in faults(tree))

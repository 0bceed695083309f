"""Whatever is done to a valid document: what its published schema refuses, the compiler refuses, too."""

from __future__ import annotations

import copy
import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
from hypothesis import given, settings
from hypothesis import strategies as st

from trainform.api import read
from trainform.io.settings import parse_settings
from trainform.k8s.tree import Tree
from trainform.source import load
from trainform.workspace.json_schema.catalogue import schemas
from trainform.workspace.json_schema.names import ANY

ROOT = Path(__file__).parents[2]

KEYS = ["name", "creationTimestamp", "status", "env", "image", "labels", "kind", "apiVersion", "limits", "uid", "x"]
VALUES = st.sampled_from(
    [None, {}, [], "", "x", 0, -1, 1, 1.5, True, {"a": None}, [None], ["a"], {"name": "x"}, 2**31, "8", "8Gi"]
)
SETTINGS: list[Tree] = [
    {"jobs": "a", "runtimes": "b", "environments": "c", "rendered": "d", "repositoryPath": "e"},
    {"lints": {"TF608": "off", "TF604": "error"}, "plugins": {"required": {"a": ">=1"}, "disabled": ["b"]}},
    {"lintsByPath": [{"paths": ["jobs/**"], "lints": {"TF607": "info"}}]},
]


@cache
def documents() -> list[Tree]:
    """Some inputs of golden cases, which use most fields, and our own runtimes and Environments."""
    inputs = [path for path in sorted((ROOT / "golden").rglob("*.yaml")) if "expected" not in path.parts]
    own = [path for folder in ("runtimes", "environments") for path in sorted((ROOT / folder).rglob("*.yaml"))]
    loaded = [load(path.read_bytes(), path.name) for path in [*inputs[::8], *own]]
    return [document.tree for each in loaded for document in each.documents]


@st.composite
def changed(draw: st.DrawFn, trees: list[Tree]) -> Tree:
    """One of the trees, with up to three elements replaced, removed or added."""
    tree = copy.deepcopy(draw(st.sampled_from(trees)))
    for _ in range(draw(st.integers(1, 3))):
        parent = draw(st.sampled_from(containers(tree)))
        if isinstance(parent, list):
            parent.append(copy.deepcopy(draw(VALUES)))
            continue
        key = draw(st.sampled_from([*parent, *KEYS]))
        if key in parent and draw(st.booleans()):
            del parent[key]
        else:
            parent[key] = copy.deepcopy(draw(VALUES))
    return tree


def containers(value: Any) -> list[Any]:
    """A mapping or list, and all below it."""
    if not isinstance(value, (dict, list)):
        return []
    inner = value.values() if isinstance(value, dict) else value
    return [value, *(found for each in inner for found in containers(each))]


@cache
def validator(name: str) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(schemas()[name].make())


@settings(max_examples=400, deadline=None)
@given(st.deferred(lambda: changed(documents())))
def test_a_schema_is_never_stricter_than_the_compiler(tree):
    loaded = load(json.dumps(tree).encode(), "stdin")
    for document in loaded.documents:
        if not validator(ANY).is_valid(document.tree):
            errors = [*loaded.diagnostics, *read(document).diagnostics]
            assert any(each.severity == "error" for each in errors), document.tree


@settings(max_examples=200, deadline=None)
@given(changed(SETTINGS))
def test_the_schema_of_settings_is_never_stricter_than_the_compiler(tree):
    text = json.dumps(tree).encode()
    for document in load(text, "trainform.yaml").documents:
        if not validator("trainform.yaml").is_valid(document.tree):
            assert parse_settings(text)[1], document.tree

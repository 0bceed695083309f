"""Holds JSON documents that commands print against their schemas."""

from __future__ import annotations

from functools import cache
from typing import Any

import jsonschema_rs

from trainform.workspace.json_schema.catalogue import schemas
from trainform.workspace.json_schema.results import RESULTS

KINDS = frozenset(each.__name__ for each in RESULTS)


def assert_valid(document: Any) -> None:
    """Raises AssertionError if a result is not as its schema says, or has a field that its schema does not know. Other
    documents are left alone."""
    if isinstance(document, dict) and document.get("kind") in KINDS:
        errors = [
            f"{each.instance_path}: {each.message}" for each in _validator(document["kind"]).iter_errors(document)
        ]
        assert errors == []


@cache
def _validator(kind: str) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(closed(schemas()[kind].make()))


def closed(schema: Any) -> Any:
    """The schema without the freedom of later versions to add fields."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: closed(value) for key, value in schema.items()}
    return {**found, "additionalProperties": False} if isinstance(schema.get("required"), list) else found

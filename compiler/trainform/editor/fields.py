"""What fields there are and what each does, by kind and path: from the schemas that `trainform schema` prints."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from trainform.diagnostics import Path
from trainform.editor.links import kind_of_root
from trainform.editor.outline_node import OutlineNode
from trainform.io.settings import FILE
from trainform.k8s.fact_kinds import FACT_VERSIONS
from trainform.k8s.schema.definitions import Schema, definitions
from trainform.workspace.json_schema.catalogue import NARROWING, schemas
from trainform.workspace.json_schema.models import Translation
from trainform.workspace.json_schema.names import ANY

_PATCH = 4
"""Where the body starts in the path `spec.patches[0].patch` of an Environment."""


class FieldKind(NamedTuple):
    """A field: its name, what its schema says, and whether a document must have it."""

    name: str
    schema: Schema
    is_required: bool = False

    @property
    def text(self) -> str:
        """What the field does, and its default."""
        return str(self.schema.get("description", ""))

    @property
    def type(self) -> str:
        """`integer`; of a field that may hold several types, each."""
        allowed = self.schema.get("type", [])
        types = [allowed] if isinstance(allowed, str) else allowed
        return " or ".join(each for each in types if each != "null")

    @property
    def choices(self) -> list[str]:
        """The values that it may have, as YAML; none if it may have any."""
        found = [self.schema["const"]] if "const" in self.schema else _enum(self.schema)
        if not found and self.type == "boolean":
            found = [True, False]
        return list(dict.fromkeys(_yaml(each) for each in found if each is not None))

    @property
    def default(self) -> str:
        return _yaml(self.schema["default"]) if "default" in self.schema else ""

    @property
    def example(self) -> str:
        examples = self.schema.get("examples", ())
        return _yaml(examples[0]) if examples else ""


class Fields:
    """The fields of one kind of document."""

    def __init__(self, root: Schema, named: Mapping[str, Schema]) -> None:
        self._root = root
        self._named = named

    def at(self, path: Path) -> FieldKind | None:
        """The field at a path; None if there is none, or nothing is known of it."""
        field: FieldKind | None = FieldKind("", self._whole(self._root))
        for step in path:
            field = self._below(field.schema, step) if field else None
        return field

    def keys(self, path: Path) -> list[FieldKind]:
        """The fields of the mapping at a path, in the order of its model."""
        field = self.at(path)
        schema = field.schema if field else {}
        required = schema.get("required", ())
        fields = schema.get("properties", {})
        return [FieldKind(name, self._whole(each), name in required) for name, each in fields.items()]

    def _below(self, schema: Schema, step: str | int) -> FieldKind | None:
        if isinstance(step, int):
            found = schema.get("items")
        else:
            found = schema.get("properties", {}).get(step, schema.get("additionalProperties"))
        if not isinstance(found, dict):
            return None
        return FieldKind(str(step), self._whole(found), step in schema.get("required", ()))

    def _whole(self, schema: Schema) -> Schema:
        """The schema with what it refers to; what stands at the use goes first."""
        while "$ref" in schema:
            use = {key: value for key, value in schema.items() if key != "$ref"}
            schema = self._named.get(schema["$ref"].removeprefix("#/$defs/"), {}) | use
        return schema


def fields_of(kind: str) -> Fields:
    """The fields of a kind, in the words of `fact_kind`; of a kind that is not known, those of any document."""
    return _fields(kind if kind in {*schemas(), *FACT_VERSIONS, *definitions()} else ANY)


def field_at(file: str, root: OutlineNode, path: Path) -> FieldKind | None:
    """The field at a path of a document in a file."""
    fields, inner = place_in(file, root, path)
    return fields.at(inner)


def place_in(file: str, root: OutlineNode, path: Path) -> tuple[Fields, Path]:
    """The fields to look in, and the path there. The body of an Environment's patch has the fields of its target."""
    kind = FILE if file == FILE else kind_of_root(root)
    if kind == "Environment" and path[:2] == ("spec", "patches") and path[3:_PATCH] == ("patch",):
        named = root.at(*path[:3], "target", "kind") or root.at(*path[:_PATCH], "kind")
        return fields_of(named.text if named else "JobSet"), path[_PATCH:]
    return fields_of(kind), path


@cache
def _fields(kind: str) -> Fields:
    published = schemas()
    if kind in published:
        root = published[kind].make()
        return Fields(root, root["$defs"])
    translation = Translation(NARROWING, closed=True)
    return Fields(translation.type_of_kubernetes(kind), translation.definitions)


def _enum(schema: Schema) -> list[Any]:
    """Also where any other text is allowed besides."""
    inner = (each.get("enum", ()) for each in schema.get("anyOf", ()))
    return [*schema.get("enum", ()), *(value for values in inner for value in values)]


def _yaml(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

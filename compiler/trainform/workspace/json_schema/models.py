"""Our own models and typed mappings as JSON Schema."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from annotated_types import Ge, Le, MaxLen, MinLen
from pydantic import BeforeValidator
from pydantic.fields import FieldInfo

from trainform.api.base import Kube, KubeList, Model
from trainform.k8s.schema.definitions import Schema, reference
from trainform.source import load
from trainform.workspace.json_schema import kubernetes
from trainform.workspace.json_schema.kubernetes import typed
from trainform.workspace.json_schema.texts import FieldText, field_texts

_SCALARS = {str: "string", int: "integer", float: "number", bool: "boolean"}
_SIZES = {"string": "Length", "array": "Items", "object": "Properties"}
_NO_TEXT = FieldText("", "", "")

Narrowing = dict[tuple[type, str], Schema]
"""What rules say of a field beyond its type, by class and name in YAML."""


class TypedField(NamedTuple):
    """A field of a model or a typed mapping, by its name in YAML. `default` is None if it has none that is plain."""

    name: str
    annotation: Any
    required: bool
    default: Any = None


class Translation:
    """Translates types, and collects what they refer to in `definitions`, by name. `closed`: objects have no fields but
    those of their model."""

    def __init__(self, narrowing: Narrowing, *, closed: bool) -> None:
        self.definitions: dict[str, Schema] = {}
        self._narrowing = narrowing
        self._closed: Schema = {"additionalProperties": False} if closed else {}

    def of(self, annotation: Any) -> Schema:
        """The schema of values of a type."""
        schema, nullable = self._split(annotation)
        return _nullable(schema) if nullable else schema

    def body(self, kind: type) -> Schema:
        """What the schema of a model or typed mapping says beside its type."""
        texts = field_texts(kind)
        found = fields(kind)
        required = [each.name for each in found if each.required]
        properties = {each.name: self._field(kind, each, texts.get(each.name, _NO_TEXT)) for each in found}
        return {"properties": properties, **self._closed, **({"required": required} if required else {})}

    def _field(self, kind: type, field: TypedField, text: FieldText) -> Schema:
        schema, nullable = self._split(field.annotation)
        schema = schema | self._narrowing.get((kind, field.name), {})
        schema = _nullable(schema) if nullable else schema
        description = f"{text.meaning} Default: {text.default}." if text.default else text.meaning
        told = {"description": description} if description else {}
        default = {} if field.default is None else {"default": field.default}
        examples = {"examples": [_parsed(text.example_code)]} if text.example_code else {}
        return schema | told | default | examples

    def _split(self, annotation: Any) -> tuple[Schema, bool]:
        """The schema of the values that are not null, and whether null is one, too."""
        origin, arguments = get_origin(annotation), get_args(annotation)
        if origin in (Union, types.UnionType):
            [inner] = [each for each in arguments if each is not type(None)]
            return self._split(inner)[0], True
        if origin is Annotated:
            return self._marked(arguments[0], arguments[1:])
        if origin is Literal:
            return {"type": "string", "enum": [*arguments]}, False
        if origin is list:
            return {"type": "array", "items": self.of(arguments[0])}, False
        if origin is dict:
            values = self.of(arguments[1])
            return {"type": "object", **({"additionalProperties": values} if values else {})}, False
        if annotation in _SCALARS:
            return {"type": _SCALARS[annotation]}, False
        if annotation is Any:
            return {}, False
        return {"type": "object", **self._refer(annotation.__name__, lambda: self.body(annotation))}, False

    def _marked(self, annotation: Any, marks: tuple[Any, ...]) -> tuple[Schema, bool]:
        """The schema with what each mark says; a mark for Kubernetes' own types takes the place of the annotation."""
        kinds = [self._of_kubernetes(mark) for mark in marks if isinstance(mark, (Kube, KubeList))]
        schema, nullable = (kinds[0], False) if kinds else self._split(annotation)
        for mark in chain.from_iterable(each.metadata if isinstance(each, FieldInfo) else [each] for each in marks):
            schema = schema | _limit(mark, schema.get("type", ""))
        return schema, nullable or any(isinstance(mark, BeforeValidator) for mark in marks)

    def _of_kubernetes(self, mark: Kube | KubeList) -> Schema:
        found = kubernetes.use(reference(mark.kind), self.type_of_kubernetes)
        return found if isinstance(mark, Kube) else {"type": "array", "items": found}

    def type_of_kubernetes(self, name: str) -> Schema:
        """A reference to a type of Kubernetes."""
        return self._refer(f"k8s.{name.replace(' ', '')}", lambda: kubernetes.definition(name, self.type_of_kubernetes))

    def _refer(self, name: str, define: Callable[[], Schema]) -> Schema:
        if name not in self.definitions:
            self.definitions[name] = {}  # types may refer to themselves
            self.definitions[name] = define()
        return {"$ref": f"#/$defs/{name}"}


def fields(kind: type) -> list[TypedField]:
    """The fields of a model or a typed mapping, in their order."""
    if issubclass(kind, Model):
        return [*_of_model(kind)]
    required: frozenset[str] = getattr(kind, "__required_keys__", frozenset())
    return [TypedField(name, annotation, name in required) for name, annotation in get_type_hints(kind).items()]


def _of_model(kind: type[Model]) -> Iterator[TypedField]:
    for name, field in kind.model_fields.items():
        marks = tuple(field.metadata)
        annotation = Annotated[field.annotation, *marks] if marks else field.annotation
        default = _plain(field.get_default(call_default_factory=True))
        yield TypedField(field.alias or name, annotation, field.is_required(), default)


def _plain(default: Any) -> Any:
    """A default that JSON can say: text, a number, true, false or a list that is not empty."""
    return default if isinstance(default, (str, int)) or (isinstance(default, list) and default) else None


def _limit(mark: Any, kind: str) -> Schema:
    """The keyword of a limit; `kind` is the type of the value."""
    match mark:
        case Ge(ge=limit):
            return {"minimum": limit}
        case Le(le=limit):
            return {"maximum": limit}
        case MinLen(min_length=limit):
            return {f"min{_SIZES[kind]}": limit}
        case MaxLen(max_length=limit):
            return {f"max{_SIZES[kind]}": limit}
    return {}


def _nullable(schema: Schema) -> Schema:
    """The schema of values that may also be null, which counts as absent."""
    if "type" not in schema:
        return schema
    others = {keyword: value for keyword, value in schema.items() if keyword != "type"}
    return typed(others, schema["type"], nullable=True)


def _parsed(example: str) -> Any:
    """An example, which is YAML in one line."""
    return load(f"example: {example}".encode(), "example").documents[0].tree["example"]

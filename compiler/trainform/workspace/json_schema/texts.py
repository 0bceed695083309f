"""The texts below the fields of a class: the reference of our own kinds and files, on pages and in editors."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from itertools import pairwise
from typing import NamedTuple

_TEXT = re.compile(r"(?P<meaning>.*?)(?: Default: (?P<default>.*?)\.)?(?: Example: (?P<example>.*))?")
_CODE = re.compile(r"`([^`]*)`")


class FieldText(NamedTuple):
    """The text of a field, in its parts. `default` is empty for a required field, `example` if there is none."""

    meaning: str
    default: str
    example: str

    @property
    def example_code(self) -> str:
        """The example alone, as YAML; empty if there is none."""
        found = _CODE.match(self.example)
        return found[1] if found else ""


def field_texts(kind: type) -> dict[str, FieldText]:
    """The text below each field of a class, by the field's name in YAML."""
    return {name: _parts(text) for name, text in _docs(kind).items()}


def summary(kind: type) -> str:
    """The first sentence of a class's docstring, as it describes an object of that class."""
    return inspect.cleandoc(kind.__doc__ or "").partition("\n\n")[0].replace("\n", " ")


def _parts(text: str) -> FieldText:
    found = _TEXT.fullmatch(text)
    assert found, text  # the pattern takes any line
    return FieldText(found["meaning"], found["default"] or "", found["example"] or "")


def _docs(kind: type) -> dict[str, str]:
    """Each text in one line; those of base classes first. Read from the source when asked: pydantic would parse it at
    each import."""
    if not kind.__module__.startswith("trainform."):
        return {}
    [tree] = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(tree, ast.ClassDef)
    docs: dict[str, str] = {}
    for base in _bases(kind, tree):
        docs |= _docs(base)
    aliases = {name: field.alias or name for name, field in getattr(kind, "model_fields", {}).items()}
    for field, text in pairwise(tree.body):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and (found := _text(text)):
            docs[aliases.get(field.target.id, field.target.id)] = found
    return docs


def _bases(kind: type, tree: ast.ClassDef) -> list[type]:
    """The classes that a class names as its bases: a typed mapping itself does not know them."""
    names = vars(inspect.getmodule(kind))
    found = [names[base.id] for base in tree.bases if isinstance(base, ast.Name)]
    return [base for base in found if isinstance(base, type)]


def _text(statement: ast.stmt) -> str:
    """The text of a statement that is a string, else nothing."""
    match statement:
        case ast.Expr(value=ast.Constant(value=str() as text)):
            return " ".join(text.split())
    return ""

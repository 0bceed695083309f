"""The texts below the fields of a class, which are the reference of our own kinds and files."""

from __future__ import annotations

import ast
import inspect
import textwrap
from itertools import pairwise


def field_docs(kind: type) -> dict[str, str]:
    """The text below each field of a class, by the field's name in YAML; lines are joined.

    Read from the source when asked: pydantic would parse it at each import.
    """
    [tree] = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    statements = tree.body if isinstance(tree, ast.ClassDef) else []
    aliases = {name: field.alias or name for name, field in getattr(kind, "model_fields", {}).items()}
    docs = {}
    for field, text in pairwise(statements):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and (found := _text(text)):
            docs[aliases.get(field.target.id, field.target.id)] = found
    return docs


def _text(statement: ast.stmt) -> str:
    """The text of a statement that is a string, else nothing."""
    match statement:
        case ast.Expr(value=ast.Constant(value=str() as text)):
            return " ".join(text.split())
    return ""

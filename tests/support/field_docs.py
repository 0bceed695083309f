"""The reference of our own kinds, from the texts below their fields."""

from __future__ import annotations

import ast
import inspect
import textwrap
from itertools import pairwise

from trainform.api.base import Model


def field_docs(model: type[Model]) -> dict[str, str]:
    """The text below each field of `model`, by the field's name in the API; lines are joined.

    Read from the source when asked: pydantic would parse it at each import.
    """
    [tree] = ast.parse(textwrap.dedent(inspect.getsource(model))).body
    statements = tree.body if isinstance(tree, ast.ClassDef) else []
    docs = {}
    for field, text in pairwise(statements):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and (found := _text(text)):
            docs[model.model_fields[field.target.id].alias or field.target.id] = found
    return docs


def _text(statement: ast.stmt) -> str:
    """The text of a statement that is a string, else nothing."""
    match statement:
        case ast.Expr(value=ast.Constant(value=str() as text)):
            return " ".join(text.split())
    return ""

"""Mutants of a module: its source with one small fault."""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Iterator
from typing import NamedTuple


class Mutant(NamedTuple):
    """`line` and `what` say where the fault is and what it is; `source` is the whole module with it."""

    line: int
    what: str
    source: str


_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
}  # fmt: skip
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult, ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}  # fmt: skip


def mutants(source: str) -> list[Mutant]:
    """All mutants of a module, in the order of its lines."""
    tree = ast.parse(source)
    found = []
    for place in _places(tree):
        for changed in _changes(place.node):
            before, after = ast.unparse(place.node), ast.unparse(changed)
            if before != after:
                found.append(Mutant(place.node.lineno, f"{before[:70]}  →  {after[:70]}", _with(tree, place, changed)))
    return sorted(found)


def sample(source: str, count: int, seed: int) -> list[Mutant]:
    every = mutants(source)
    return sorted(random.Random(seed).sample(every, min(count, len(every))))


def statements_of_functions(source: str) -> dict[int, range]:
    """By line, the lines of its statement in a function, without the statements inside that one. All other lines run on
    import."""
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    found: dict[int, range] = {}
    for statement in (each for function in functions for part in function.body for each in ast.walk(part)):
        if isinstance(statement, ast.stmt):
            lines = range(statement.lineno, (statement.end_lineno or 0) + 1)
            found |= dict.fromkeys(lines, lines)
    return found


class _Place(NamedTuple):
    """A node that can be replaced: in `field` of node number `parent` of the walk, at `place` if that is a list."""

    parent: int
    field: str
    place: int | None
    node: ast.expr | ast.stmt


def _places(tree: ast.Module) -> Iterator[_Place]:
    never_run = {id(node) for parent in ast.walk(tree) for root in _never_run(parent) for node in ast.walk(root)}
    for number, parent in enumerate(ast.walk(tree)):
        if id(parent) in never_run:
            continue
        for field, value in ast.iter_fields(parent):
            entries = list(enumerate(value)) if isinstance(value, list) else [(None, value)]
            for index, node in entries:
                if isinstance(node, ast.expr | ast.stmt) and id(node) not in never_run and not _is_kept(node):
                    yield _Place(number, field, index, node)


_GENERICS = {"Callable", "Iterable", "Literal", "Mapping", "Sequence", "dict", "frozenset", "list", "set", "tuple"}
_GUARDS = {"frozen", "slots", "strict"}
"""Keywords that change no result: they forbid what nobody does."""


def _never_run(node: ast.AST) -> list[ast.AST]:
    """The parts of a node that only people and type checkers read, and guards."""
    match node:
        case ast.Expr(value=ast.Constant()) | ast.Assign(targets=[ast.Name(id="__all__")]):
            return [node]
        case ast.Assign(value=ast.Subscript(value=ast.Name(id=name))) if name in _GENERICS:
            return [node]
        case ast.keyword(arg=name, value=ast.Constant() as value) if name in _GUARDS:
            return [value]
        case ast.arg(annotation=annotation) | ast.AnnAssign(annotation=annotation):
            return [annotation] if annotation else []
        case ast.FunctionDef(returns=returns):
            return [returns] if returns else []
    return []


def _is_kept(node: ast.AST) -> bool:
    """Imports, definitions as a whole, and what only the type checker reads."""
    return isinstance(node, ast.Import | ast.ImportFrom | ast.ClassDef | ast.FunctionDef) or (
        isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
    )


def _with(tree: ast.Module, place: _Place, changed: ast.AST) -> str:
    mutant = copy.deepcopy(tree)
    parent = next(node for number, node in enumerate(ast.walk(mutant)) if number == place.parent)
    if place.place is None:
        setattr(parent, place.field, changed)
    else:
        getattr(parent, place.field)[place.place] = changed
    return ast.unparse(ast.fix_missing_locations(mutant))


def _changes(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Compare(ops=[operator]) if type(operator) in _COMPARISONS:
            yield _altered(node, ops=[_COMPARISONS[type(operator)]()])
        case ast.BoolOp(op=operator, values=values):
            yield _altered(node, op=ast.Or() if isinstance(operator, ast.And) else ast.And())
            yield from values
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield operand
        case ast.BinOp(op=operator) if type(operator) in _OPERATORS:
            yield _altered(node, op=_OPERATORS[type(operator)]())
        case ast.Constant(value=value):
            yield from map(ast.Constant, _other_values(value))
        case _:
            yield from _changes_of_structure(node)


def _changes_of_structure(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.IfExp(body=body, orelse=orelse):
            yield from (body, orelse)
        case ast.If(test=test):
            yield _altered(node, test=ast.UnaryOp(ast.Not(), test))
        case ast.Tuple(elts=elements, ctx=ast.Load()) | ast.List(elts=elements, ctx=ast.Load()) if len(elements) > 1:
            for index in range(len(elements)):
                yield _altered(node, elts=elements[:index] + elements[index + 1 :])
        case ast.Expr() | ast.AugAssign() | ast.Continue():
            yield ast.Pass()
        case ast.Return(value=value) if value is not None and not isinstance(value, ast.Constant):
            yield ast.Return(ast.Constant(None))


def _other_values(value: object) -> Iterator[bool | int | str]:
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield value + 1
    elif isinstance(value, str):
        yield f"{value}X"


def _altered(node: ast.AST, **fields: object) -> ast.AST:
    altered = copy.copy(node)
    for name, value in fields.items():
        setattr(altered, name, value)
    return altered

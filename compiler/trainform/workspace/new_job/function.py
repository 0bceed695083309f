"""A Python function as a script. Its source is read, never run: it may need packages that only the image has."""

from __future__ import annotations

import ast
import builtins
import symtable
import sys
from collections.abc import Iterator

FROM_THE_MODULE = frozenset({"__name__", "__file__", "__doc__", "__builtins__"})
FROM_THE_START = frozenset({"exit", "quit"})
"""Builtins that a Python has when it starts, but not in a notebook."""


class CannotCarry(Exception):
    """The function cannot be a script of its own; the message says why, and what to do."""


def script_of(source: str, name: str, where: str) -> str:
    """A script with the function `name` of `source`, character by character, and a call. `where` names the file in
    messages. Raises CannotCarry."""
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError) as error:
        raise CannotCarry(f"{where} is not Python: {error}") from error
    found = [each for each in module.body if getattr(each, "name", None) == name]
    if not found:
        known = [each.name for each in module.body if isinstance(each, ast.FunctionDef)]
        raise CannotCarry(f"{where} has no function {name}; it has {', '.join(known) or 'none'}")
    function = found[-1]
    if not isinstance(function, ast.FunctionDef):
        raise CannotCarry(f"{name} in {where} is no plain function: write a def that needs no await")
    _check_call(function)
    text = f"{ast.get_source_segment(source, function)}\n"
    check_names(text, name)
    return with_call(text, name)


def with_call(text: str, name: str, arguments: str = "") -> str:
    """A script of `text`, which defines the function `name`, and a call."""
    return f'{text}\n\nif __name__ == "__main__":\n    {name}({arguments})\n'


def check_names(text: str, name: str) -> None:
    """Raises CannotCarry if the function `name`, all of `text`, takes anything from its module."""
    if outside := _names_from_outside(text, name):
        names = ", ".join(outside)
        raise CannotCarry(f"{name} uses {names} from outside: import or define that inside of the function")


def check_definition(function: ast.FunctionDef) -> None:
    """Raises CannotCarry if the script's call would not run the function as it is written."""
    if function.decorator_list:
        raise CannotCarry(f"{function.name} has a decorator, which comes from outside: remove it")
    if any(isinstance(each, ast.Yield | ast.YieldFrom) for each in _of_body(function)):
        raise CannotCarry(f"{function.name} has a yield, so a call runs none of it: write a def without yield")


def _of_body(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """What the function's own body has, without the functions and classes in it."""
    waiting: list[ast.AST] = [*function.body]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            waiting += ast.iter_child_nodes(node)


def _check_call(function: ast.FunctionDef) -> None:
    given = function.args
    required = [each.arg for each in [*given.posonlyargs, *given.args]]
    required = required[: len(required) - len(given.defaults)]
    required += [each.arg for each, default in zip(given.kwonlyargs, given.kw_defaults, strict=True) if not default]
    if required:
        message = f"{function.name} needs {', '.join(required)}: give every parameter a default, or read variables"
        raise CannotCarry(message)
    check_definition(function)


def _names_from_outside(text: str, name: str) -> list[str]:
    """What the function, its signature, or a function in it takes from its module, sorted. What it makes there itself,
    with `global`, is its own."""
    tables, found, own = [symtable.symtable(text, name, "exec")], set[str](), {name}
    while tables:
        table = tables.pop()
        tables += table.get_children()
        symbols = table.get_symbols()
        found |= {each.get_name() for each in symbols if each.is_global() and each.is_referenced()}
        own |= {each.get_name() for each in symbols if each.is_declared_global() and each.is_assigned()}
    return sorted(found - _of_python() - FROM_THE_MODULE - FROM_THE_START - own)


def _of_python() -> set[str]:
    """The builtins of every Python. Notebooks add theirs, such as `get_ipython`, which a `!ls` in a function calls."""
    return {name for name, value in vars(builtins).items() if _home(value) in sys.stdlib_module_names}


def _home(value: object) -> str:
    return str(getattr(value, "__module__", None) or type(value).__module__).partition(".")[0]

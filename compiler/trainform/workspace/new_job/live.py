"""A function of the running program as a script: its source as it was written, and the arguments of its call."""

from __future__ import annotations
import __future__

import ast
import inspect
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from trainform.workspace.new_job.function import CannotCarry, check_definition, check_names, with_call
from trainform.workspace.new_job.literals import literal

_POSTPONED = "from __future__ import annotations\n"


class Script(NamedTuple):
    """The function's name, and the whole script."""

    name: str
    text: str


def script_of_function(function: Callable[..., object], arguments: Mapping[str, Any] | None = None) -> Script:
    """Raises CannotCarry, with what to do. Python knows a function's source if it was defined in a file, or in a cell
    of a notebook."""
    if not inspect.isfunction(function):
        what = type(function).__name__
        raise CannotCarry(f"{function!r} is a {what}, which has no source of its own: pass a function made with def")
    if function.__code__.co_name == "<lambda>":  # its lines need not be Python without those around
        raise CannotCarry("a lambda has no name and no lines of its own: pass a function made with def")
    try:
        source = inspect.getsource(function)
    except (OSError, TypeError) as error:
        message = f"the source of {function.__name__} is not known: define it in a file, or in a cell of a notebook"
        raise CannotCarry(message) from error
    if source[:1].isspace():  # it was defined in a block; moving its lines would change strings that span lines
        source = f"if True:\n{source}"
    definition = _definition(source, function.__name__)
    check_definition(definition)
    if definition.name != function.__code__.co_name:
        message = f"the file of {function.__name__} changed since it was imported: import it again, or restart"
        raise CannotCarry(message)
    if function.__code__.co_flags & __future__.annotations.compiler_flag:
        source = f"{_POSTPONED}\n\n{source}"
    source = source if source.endswith("\n") else f"{source}\n"
    check_names(source, definition.name)
    text = with_call(source, definition.name, _call(function, definition.name, arguments or {}))
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise CannotCarry(f"the source of {definition.name} is no valid Unicode: {error}") from error
    return Script(definition.name, text)


def _definition(source: str, name: str) -> ast.FunctionDef:
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError) as error:
        raise CannotCarry(f"the source of {name} cannot stand alone: {error}") from error
    first = module.body[0] if module.body else None
    if isinstance(first, ast.If):
        first = first.body[0]
    if isinstance(first, ast.AsyncFunctionDef):
        raise CannotCarry(f"{name} is async: write a def, and call asyncio.run inside of it")
    if not isinstance(first, ast.FunctionDef):
        raise CannotCarry(f"{name} has no source of its own: pass a function made with def")
    return first


def _call(function: Callable[..., object], name: str, arguments: Mapping[str, Any]) -> str:
    """The text between the parentheses of the call."""
    try:
        inspect.signature(function).bind(**arguments)
    except TypeError as error:
        raise CannotCarry(f"{name}: {error}: set it in func_args, or give it a default") from error
    if not arguments:
        return ""
    items = [
        f"            {literal(key, f'the key {key!r} of func_args')}: {literal(value, f'func_args[{key!r}]')},"
        for key, value in arguments.items()
    ]
    return "\n".join(["", "        **{", *items, "        }", "    "])

"""The reference of the plugin API, from its docstrings."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

from trainform import plugin

HEAD = """\
# Plugin API

Everything that `trainform.plugin` holds, generated from the code. [Writing a plugin](plugins.md) explains its use.
"""
FIRST = ("Plugin", "Plan", "PodSet", "PluginSettings")
LONGEST = 60


def reference() -> str:
    names = [name for name in vars(plugin) if _is_public(name)]
    found = {name: getattr(plugin, name) for name in (*FIRST, *sorted(set(names) - set(FIRST)))}
    classes = {name: each for name, each in found.items() if inspect.isclass(each)}
    functions = {name: each for name, each in found.items() if inspect.isroutine(each)}
    others = {name: each for name, each in found.items() if name not in classes and name not in functions}
    lines = [HEAD]
    for name, kind in classes.items():
        lines += [f"## {name}", "", *([_first(kind), ""] if _first(kind) else []), *_members(kind)]
    lines += [
        "## Functions",
        "",
        *(f"- `{name}{_signature(each)}`: {_first(each)}" for name, each in functions.items()),
    ]
    lines += ["", "## Constants and types", "", *(f"- `{name}`{_value(each)}" for name, each in others.items())]
    return "\n".join(lines) + "\n"


def _is_public(name: str) -> bool:
    return not name.startswith("_") and name not in ("annotations", "TYPE_CHECKING")


def _members(kind: type) -> Iterator[str]:
    members = {name: each for name, each in vars(kind).items() if _is_public(name) and _first(each)}
    for name, each in members.items() if kind.__module__.startswith("trainform.core") else ():
        each = each.__func__ if isinstance(each, classmethod | staticmethod) else each
        if inspect.isfunction(each) or isinstance(each, property):
            yield f"- `{name}{_signature(each) if inspect.isfunction(each) else ''}`: {_first(each)}"
    yield ""


def _signature(function: Any) -> str:
    names = [each for each in inspect.signature(function).parameters.values() if each.name not in ("self", "cls")]
    return f"({', '.join(str(each.replace(annotation=inspect.Parameter.empty)) for each in names)})"


def _first(thing: Any) -> str:
    """The first paragraph of a docstring, in one line."""
    text = inspect.cleandoc(getattr(thing, "__doc__", None) or "")
    return " ".join(text.partition("\n\n")[0].split())


def _value(thing: Any) -> str:
    text = repr(thing)
    return f": `{text}`" if len(text) <= LONGEST and not text.startswith("<") else ""

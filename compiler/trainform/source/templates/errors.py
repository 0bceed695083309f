"""Template errors and undefined names."""

from __future__ import annotations

from typing import Any

from jinja2 import StrictUndefined, Undefined
from jinja2.utils import missing

from trainform.diagnostics.suggest import did_you_mean, nearest

_INSTEAD = {
    "format": "join text with ~",
    "get": "write … | default(…)",
    "items": "write … | items",
    "join": "write … | join(…)",
    "keys": "write … | list",
    "lower": "write … | lower",
    "replace": "write … | replace(…)",
    "strip": "write … | trim",
    "upper": "write … | upper",
    "values": "write for key, value in … | items",
}
"""Methods that people try to call, and what to write instead."""


class Refused(Exception):
    """A template that cannot be rendered, as the parts of a diagnostic; `word` locates the fault."""

    def __init__(self, code: str, message: str, hint: str = "", word: object = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.word = str(word)


class Values(dict[str, Any]):
    """The Environment's values, a template's `env`."""


class Missing(StrictUndefined):
    """An undefined name or member: only `is defined` and `default` may use it."""

    __slots__ = ()

    @property
    def _undefined_message(self) -> str:
        # Jinja asks for the message just before raising; our exception says more than Jinja's.
        raise _missing(self._undefined_hint, self._undefined_obj, self._undefined_name)


def _missing(why: str | None, holder: Any, member: Any) -> Refused:
    name = _shown(member)
    if why:
        return Refused("TF014", why, word=name)
    if holder is missing:
        hint = f"templates can only use env: write env.{name}"
        return Refused("TF014", f"{name} is not defined", hint, name)
    if not isinstance(member, str | int | slice):
        return Refused("TF014", f"{name} cannot be a key")
    if name.startswith("__"):
        return Refused("TF015", f"templates cannot access {name}", "templates can only use plain data", name)
    if name in _INSTEAD:
        return Refused("TF015", f"templates cannot call {name}", _INSTEAD[name], name)
    if isinstance(holder, Values):
        near = nearest(name, holder)
        hint = f'did you mean "env.{near}"?' if near else "add it to spec.values in the Environment"
        return Refused("TF014", f"env.{name} is not set", hint, name)
    if isinstance(holder, dict):
        return Refused("TF014", f"{name} is not set here", did_you_mean(name, map(str, holder)), name)
    return Refused("TF014", f"{noun(holder)} has no {name}", word=name)


def _shown(member: Any) -> str:
    """A name or index in a message. Any other key may be a list that takes a gigabyte to print."""
    if isinstance(member, slice):
        return "slice"
    return str(member)[:_LONGEST] if isinstance(member, str | int) else noun(member)


_LONGEST = 100
"""Most characters of a name in a message."""


def noun(value: Any) -> str:
    """The kind of a value in YAML terms."""
    return _NOUNS.get(type(value), "this object")


_NOUNS = {
    bool: "a boolean",
    dict: "a mapping",
    float: "a number",
    int: "a number",
    list: "a list",
    str: "a string",
    tuple: "a list",
    type(None): "null",
    Undefined: "nothing",
}

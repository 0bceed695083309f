"""Accidental content in YAML files: leftovers of other tools and lookalike characters."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Complaint:
    """A syntax error; `index` counts characters from the document's start."""

    index: int
    message: str
    hint: str = ""
    code: str = "TF001"


_CONFLICT = re.compile(r"^(?:<{7} .*|={7}$|>{7} .*)", re.MULTILINE)
_EXPRESSION = re.compile(r"^[ \t]*(?:\{\{|\{%).*", re.MULTILINE)
"""A line that begins with a template's expression or statement."""

_OF_HELM = re.compile(r"\.(?:Values|Release|Chart|Capabilities)\b|\$\w*\s*:=|\b(?:include|define)\b|\$\.")
_FENCE = re.compile(r"^ *```", re.MULTILINE)
_SEPARATOR = re.compile(r"^(?: +---|-{4,}) *$", re.MULTILINE)
_LOOKALIKE = re.compile(
    "(?:^ *|[:\"'-])([\u00a0\u2000-\u200a\u202f\u205f\u3000])|([\u200b\u2060\ufeff\uff1a])", re.MULTILINE
)
"""First group: a lookalike space where it could pass for structure. Second: characters that are wrong anywhere."""
_MEANT = {
    "\u200b": ("is invisible here", "delete it"),
    "\u2060": ("is invisible here", "delete it"),
    "\ufeff": ("is in the middle of the file", "delete it: it is only allowed at the start of a file"),
    "\uff1a": ("is not the YAML character :", "write a normal : and a space"),
}
_SPACE = ("is not a space in YAML", "replace it with normal spaces")


def foreign(text: str, index: int) -> Complaint | None:
    """The accident behind a parser error at `index`, if any. Merge conflict markers are found anywhere, others only in
    the line of the error or the one above."""
    if found := _CONFLICT.search(text):
        message = f"{found[0].split()[0]} marks an unresolved merge conflict"
        return Complaint(found.start(), message, "keep one side and delete the three markers")
    if found := _EXPRESSION.search(text):
        return _template(text, found)
    start = text.rfind("\n", 0, max(text.rfind("\n", 0, index), 0)) + 1
    end = text.find("\n", index)
    return _nearby(text, start, end if end >= 0 else len(text))


def _template(text: str, found: re.Match[str]) -> Complaint:
    at = found.end() - len(found[0].lstrip())
    if _OF_HELM.search(text):
        return Complaint(at, "this is a Helm template, not YAML", "render the chart first, with helm template")
    return Complaint(at, "this is a template, not YAML", "rename the file to .yaml.j2 to render it")


def _nearby(text: str, start: int, end: int) -> Complaint | None:
    if found := _FENCE.search(text, start, end):
        message = "``` is Markdown, not YAML"
        return Complaint(found.start(), message, "delete the lines that contain only ```")
    if found := _SEPARATOR.search(text, start, end):
        at = found.end() - len(found[0].strip())
        return Complaint(at, "this line does not separate documents", "write --- at the very start of the line")
    if found := _LOOKALIKE.search(text, start, end):
        return _lookalike(found)
    return None


def _lookalike(found: re.Match[str]) -> Complaint:
    character = found[1] or found[2]
    name = "byte order mark" if character == "\ufeff" else unicodedata.name(character).lower()
    why, hint = _MEANT.get(character, _SPACE)
    return Complaint(found.end() - 1, f"a {name} (U+{ord(character):04X}) {why}", hint, "TF003")

"""What to change in a document so that a finding goes away, as its hint says it.

Hints are written in a few forms, and this module is where they are read:

    write VALUE                  the element gets this value; of `write A or B`, either
    write KEY: VALUE             the field gets this value, in the element, beside it, or at a path from the root
    set KEY to VALUE             likewise
    rename "wrong" to right      a key is spelled wrongly
    did you mean "right"?        a key or a value is
    remove it, remove KEY        the element, or a field of it, goes
    remove one of the two        the later one goes

A form fits more hints than it was made for: `write a number` is advice, not a value. So what is read here are
proposals. Whoever offers one compiles it first, and offers it only if the finding is gone and no error is new.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from trainform.diagnostics.diagnostic import Diagnostic, Path


@dataclass(frozen=True, slots=True)
class SetValue:
    """The element at `path` gets the value that `text` is in YAML; if there is none, it is added."""

    path: Path
    text: str


@dataclass(frozen=True, slots=True)
class RenameKey:
    """The key at `path` becomes `text`, as YAML."""

    path: Path
    text: str


@dataclass(frozen=True, slots=True)
class RemoveElement:
    """The element at `path` goes. `named`: if the message names some of its entries, only one of those."""

    path: Path
    named: bool = False


Fix = SetValue | RenameKey | RemoveElement

_QUOTED = r"\"(?:[^\"\\]|\\.)*\""
_FLOW = r"\{[^{}]*(?:\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}[^{}]*)*\}|\[[^\[\]]*\]"
_VALUE = rf"(?:{_QUOTED}|{_FLOW}|[^\s,;`]+?)"
_STOP = r"(?=$|[,;]| or | without quotes| in (?:the|addition)\b| to use\b| instead\b)"
_WRITE = re.compile(rf"\b(?:write|set) (?P<first>{_VALUE})(?: or (?P<second>{_VALUE}))?{_STOP}")
_FIELD = re.compile(
    rf"\b(?:write|set) (?P<key>[A-Za-z][\w./\[\]-]*)(?:: | to )(?P<first>{_VALUE})(?: or (?P<second>{_VALUE}))?{_STOP}"
)
_RENAME = re.compile(r"\brename [\"`](?P<wrong>[^\"`]+)[\"`] to (?P<right>[\w./-]+)")
_MEANT = re.compile(r"\bdid you mean (?P<right>\"[^\"]+\")\?")
_REMOVE = re.compile(r"\bremove (?P<what>it\b|one of (?:the two|them)\b|the value\b|[a-z][A-Za-z]*\b)")
_PATH = re.compile(r"(?:spec|metadata)(?:\.\w+)+(?:\[\])?|\.\w+")
_PLACEHOLDER = re.compile(r"…|path/name|:$")
_PROSE = {"a", "an", "the", "each", "its", "it", "another", "them", "one"}


def proposals(diagnostic: Diagnostic) -> Iterator[Fix]:
    """What the hint may mean, each once, the likeliest first; nothing for a hint that is only advice."""
    yield from dict.fromkeys(
        fix for read in (_meant, _renamed, _fields, _values, _removed) for fix in read(diagnostic.hint, diagnostic.path)
    )


def _meant(hint: str, path: Path) -> Iterator[Fix]:
    if (found := _MEANT.search(hint)) and path:
        right = found["right"]
        yield RenameKey(path, right.strip('"'))
        yield SetValue(path, _plain(right))


def _renamed(hint: str, path: Path) -> Iterator[Fix]:
    if found := _RENAME.search(hint):
        for parent in (path[:-1], path):
            yield RenameKey((*parent, found["wrong"]), found["right"])


def _fields(hint: str, path: Path) -> Iterator[Fix]:
    for found in _FIELD.finditer(hint):
        steps: Path = tuple(found["key"].split("."))
        for value in filter(None, (found["first"], found["second"])):
            if _PLACEHOLDER.search(value):
                continue
            if steps[0] in ("spec", "metadata"):
                yield SetValue(steps, value)
            for place in _places(steps, path):
                yield SetValue(place, value)


def _places(steps: Path, path: Path) -> Iterator[Path]:
    """Where the field of a hint may be meant: the element itself, in it, beside it, or above it."""
    if path[-len(steps) :] == steps:
        yield path
        return
    if path and isinstance(path[-1], str):
        yield (*path, *steps)
    for size in range(len(path) - 1, -1, -1):
        yield (*path[:size], *steps)


def _values(hint: str, path: Path) -> Iterator[Fix]:
    for found in _WRITE.finditer(hint) if path else ():
        for value in filter(None, (found["first"], found["second"])):
            if value in _PROSE or _PATH.fullmatch(value) or _PLACEHOLDER.search(value):
                continue
            yield SetValue(path, value)
            if value.startswith('"'):
                yield RenameKey(path, value)


def _removed(hint: str, path: Path) -> Iterator[Fix]:
    for found in _REMOVE.finditer(hint) if path else ():
        what = found["what"]
        if what == "it" or what.startswith("one of"):
            yield RemoveElement(path, named=True)
        elif what == path[-1]:
            yield RemoveElement(path)
        elif what not in _PROSE:
            yield RemoveElement((*path, what))
            yield RemoveElement((*path[:-1], what))


def _plain(quoted: str) -> str:
    """A name without its quotes, where YAML does not need them."""
    name = quoted.strip('"')
    return name if re.fullmatch(r"[A-Za-z][\w./-]*", name) and name not in ("true", "false", "null") else quoted

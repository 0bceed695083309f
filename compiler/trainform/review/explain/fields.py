"""The command line's FIELD argument: selects fields of a job's objects. A path in API terms, or a suffix that fits only
one place. List entries go by index or name: `replicatedJobs[0]` or `replicatedJobs[node]`. A prefix selects the object:
`JobSet/llm:`, or `JobSet:` if it is the only one of its kind."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, NamedTuple

from trainform.diagnostics.suggest import did_you_mean

if TYPE_CHECKING:
    from trainform.diagnostics import Path
    from trainform.review.explain.owner import Field

_LISTED = 8
"""Most candidates listed in a message."""

_BRACKETS = re.compile(r"\[([^\]]*)\]")

Atom = frozenset[str]
"""One word of a path, in every accepted spelling."""


class Selection(NamedTuple):
    """The fields below one element of an object; `path` is the element's, a prefix of each field's path."""

    object: str
    path: Path
    fields: list[Field]


class FieldError(ValueError):
    """A FIELD that matches no element, or several; the message lists candidates."""

    def __init__(self, message: str, *, is_ambiguous: bool = False) -> None:
        super().__init__(message)
        self.is_ambiguous = is_ambiguous


def everything(fields: Iterable[Field]) -> list[Selection]:
    """All fields, object by object."""
    return [each for each in _elements(fields) if not each.path]


def find(fields: Sequence[Field], asked: str) -> Selection:
    """The one element that `asked` matches. Raises FieldError."""
    objects = {each.object for each in fields}
    name, path = _split(asked, objects)
    here = [each for each in fields if name in ("", each.object)]
    elements = _elements(here)
    wanted = _asked(path)
    atoms = [_atoms(each.path, each.fields[0].names) for each in elements]
    found = [each for each, own in zip(elements, atoms, strict=True) if _fits(wanted, own, whole=True)]
    found = found or [each for each, own in zip(elements, atoms, strict=True) if wanted and _fits(wanted, own)]
    if len(found) == 1:
        return found[0]
    if found:
        raise FieldError(f'"{asked}" fits {len(found)} fields:{_listed(found)}', is_ambiguous=True)
    if made := _made_from(wanted, here):
        raise FieldError(f'"{asked}" is a key of the TrainJob, and FIELD is a rendered field; it sets:{_listed(made)}')
    raise FieldError(_unknown(path, elements))


def spelled(selection: Selection) -> str:
    """The element's command-line spelling, without its object."""
    names = iter(selection.fields[0].names)
    text = ""
    for index, part in enumerate(selection.path):
        name = next(names) if isinstance(part, int) else part
        text += f"[{part if name is None else name}]" if isinstance(part, int) else f"{'.' if index else ''}{name}"
    return text


def variable_of(selection: Selection) -> str:
    """The name of the environment variable that the element is, or is part of; empty if it is none."""
    names = iter(selection.fields[0].names)
    for part, before in zip(selection.path[1:], selection.path, strict=False):
        if isinstance(part, int) and (name := next(names)) is not None and before == "env":
            return name
    return ""


def _split(asked: str, objects: Iterable[str]) -> tuple[str, str]:
    """The object that FIELD begins with, if any, and the rest. A kind suffices if only one object has it."""
    by_kind: dict[str, list[str]] = {}
    for name in objects:
        by_kind.setdefault(name.partition("/")[0], []).append(name)
    known = {kind: names[0] for kind, names in by_kind.items() if len(names) == 1}
    known |= {name: name for names in by_kind.values() for name in names}
    for prefix in sorted(known, key=len, reverse=True):
        if asked == prefix or (asked.startswith(prefix) and asked[len(prefix)] in ":. "):
            return known[prefix], asked[len(prefix) + 1 :]
    return "", asked


def _elements(fields: Iterable[Field]) -> list[Selection]:
    """Every element of the objects that has a field in or below it."""
    found: dict[tuple[str, Path], Selection] = {}
    for each in fields:
        for size in range(len(each.path) + 1):
            place = (each.object, each.path[:size])
            found.setdefault(place, Selection(*place, [])).fields.append(each)
    return list(found.values())


def _asked(path: str) -> list[Atom]:
    atoms = []
    for index, text in enumerate(_BRACKETS.split(path)):
        if index % 2:
            atoms.append(_bracket(text))
        else:
            atoms += [frozenset([word]) for word in text.split(".") if word]
    return atoms


def _atoms(path: Path, names: Iterable[str | None]) -> list[Atom]:
    """The words of a path whose list entries have these names."""
    left = iter(names)
    atoms: list[Atom] = []
    for part in path:
        if isinstance(part, int):
            atoms.append(_bracket(str(part), next(left)))
        else:
            atoms += [frozenset([word]) for word in part.split(".") if word]
    return atoms


def _bracket(*names: str | None) -> Atom:
    return frozenset(f"[{name}]" for name in names if name is not None)


def _fits(wanted: Sequence[Atom], atoms: Sequence[Atom], *, whole: bool = False) -> bool:
    """Whether `wanted` is a suffix of `atoms`; with `whole`, equal to it."""
    if len(wanted) > len(atoms) or (whole and len(wanted) != len(atoms)):
        return False
    return all(map(frozenset.intersection, wanted, atoms[len(atoms) - len(wanted) :]))


def _listed(found: Sequence[Selection]) -> str:
    """Elements, each on a line of its own."""
    shown = [f"\n  {each.object}:{spelled(each)}" for each in found[:_LISTED]]
    rest = f"\n  … and {len(found) - _LISTED} more" if len(found) > _LISTED else ""
    return "".join(shown) + rest


def _made_from(wanted: Sequence[Atom], fields: Iterable[Field]) -> list[Selection]:
    """The fields whose values the TrainJob has, in or below a key that `wanted` matches."""
    found = []
    for each in fields:
        if each.owner.kind == "trainjob" and wanted:
            keys = (_atoms(each.key[: size + 1], repeat(None)) for size in range(len(each.key)))
            if any(_fits(wanted, key) for key in keys):
                found.append(Selection(each.object, each.path, [each]))
    return found


def _unknown(asked: str, elements: Sequence[Selection]) -> str:
    """The nearest whole path, or suffix with as many words."""
    paths = [spelled(each) for each in elements]
    size = len(_words(asked))
    hint = did_you_mean(asked, {*paths, *(".".join(_words(path)[-size:]) for path in paths)} - {""})
    objects = ", ".join(dict.fromkeys(each.object for each in elements))
    otherwise = f"the objects are {objects}; without FIELD, all fields are shown, each with the line that set it"
    return f'no rendered field is called "{asked}": {hint or otherwise}'


def _words(path: str) -> list[str]:
    """The path split at its dots, except those inside brackets."""
    return re.split(r"\.(?![^\[]*\])", path)

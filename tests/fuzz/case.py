"""A repository and the command lines that run in it, as JSON that can be kept and replayed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, get_args

GitState = Literal["none", "committed", "dirty", "staged", "detached", "unborn"]
"""No git; all committed; the last mutations only in the work tree, or also in the index; no branch; no commit."""

GIT_STATES: tuple[GitState, ...] = get_args(GitState)


class Entry(NamedTuple):
    """One path of a repository. `text` is a file's content, repeated `times` (surrogate escapes are bytes that are no
    UTF-8), or a link's target."""

    kind: Literal["file", "link", "pipe", "folder"] = "file"
    text: str = ""
    times: int = 1
    mode: int = 0o644

    @property
    def data(self) -> bytes:
        return self.text.encode(errors="surrogateescape") * self.times


class Step(NamedTuple):
    """One command line. `stdin` is its input, `variables` are set in its environment."""

    arguments: tuple[str, ...]
    stdin: str = ""
    variables: Mapping[str, str] = {}

    @property
    def command(self) -> str:
        return self.arguments[0] if self.arguments else ""

    def option(self, name: str) -> str:
        """The value after an option; empty without it."""
        rest = self.arguments
        return rest[rest.index(name) + 1] if name in rest[:-1] else ""


@dataclass(frozen=True, slots=True)
class Case:
    """`files` by path. `base` holds what was committed before; it is `files` unless git is dirty or staged."""

    files: Mapping[str, Entry]
    steps: tuple[Step, ...]
    git: GitState = "none"
    base: Mapping[str, Entry] = field(default_factory=dict)
    about: str = ""

    def with_file(self, path: str, entry: Entry | None) -> Case:
        """The case with one path set, or removed if `entry` is None."""
        files = dict(self.files)
        if entry is None:
            files.pop(path, None)
        else:
            files[path] = entry
        return replace(self, files=files)


def dump(case: Case) -> str:
    tree = {
        "about": case.about,
        "git": case.git,
        "steps": [_step_tree(step) for step in case.steps],
        "files": {path: _entry_tree(entry) for path, entry in sorted(case.files.items())},
        "base": {path: _entry_tree(entry) for path, entry in sorted(case.base.items())},
    }
    return json.dumps({key: value for key, value in tree.items() if value}, indent=1) + "\n"


def parse(text: str) -> Case:
    tree = json.loads(text)
    steps = tuple(
        Step(tuple(step["arguments"]), step.get("stdin", ""), step.get("variables", {})) for step in tree["steps"]
    )
    files, base = ({p: _entry(e) for p, e in tree.get(key, {}).items()} for key in ("files", "base"))
    return Case(files, steps, tree.get("git", "none"), base, tree.get("about", ""))


def _step_tree(step: Step) -> dict[str, Any]:
    tree = {"arguments": list(step.arguments), "stdin": step.stdin, "variables": dict(step.variables)}
    return {key: value for key, value in tree.items() if value}


def _entry_tree(entry: Entry) -> Any:
    """A plain file is its text; anything else is a mapping of what differs from the defaults."""
    if entry == Entry(text=entry.text):
        return entry.text
    default = Entry()._asdict()
    return {key: value for key, value in entry._asdict().items() if value != default[key]}


def _entry(tree: Any) -> Entry:
    return Entry(text=tree) if isinstance(tree, str) else Entry(**tree)

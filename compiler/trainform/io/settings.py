"""`trainform.yaml`: the folders of a repository."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from trainform.diagnostics import Diagnostic, Path
from trainform.diagnostics.suggest import did_you_mean
from trainform.io.links import folded, names_git

if TYPE_CHECKING:
    from trainform.source import Document

FILE = "trainform.yaml"


class Settings(NamedTuple):
    """Folders relative to the root, with `/`. Every key has a default."""

    jobs: str = "jobs"
    runtimes: str = "runtimes"
    environments: str = "environments"
    rendered: str = "rendered"


_OURS = ".trainform"

KEYS = Settings._fields


def parse_settings(data: bytes) -> tuple[Settings, list[Diagnostic]]:
    """The settings in `trainform.yaml`; if it has errors, those and the defaults."""
    from trainform.source import load

    loaded = load(data, FILE)
    problems = list(loaded.diagnostics)
    if not problems and loaded.documents:
        message = "project settings must be a single document, but this file has more than one"
        problems = [
            Diagnostic("TF703", "error", message, "merge the documents", place=each) for each in loaded.documents[1:]
        ]
        problems += _problems(loaded.documents[0])
    if problems or not loaded.documents:
        return Settings(), problems
    given: dict[str, str] = loaded.documents[0].tree
    return Settings(**{key: _normal(folder) for key, folder in given.items()}), []


def _problems(document: Document) -> list[Diagnostic]:
    problems = [problem for key, folder in document.tree.items() for problem in _entry(document, key, folder)]
    return problems or _overlaps(document, document.tree)


def _entry(document: Document, key: str, folder: Any) -> list[Diagnostic]:
    path: Path = (key,)
    if key not in KEYS:
        hint = did_you_mean(key, KEYS) or f"known keys: {', '.join(KEYS)}"
        at = document.key_position(path)
        return [Diagnostic("TF101", "error", "unknown field", hint, path, document, at)]
    if not isinstance(folder, str):
        code, message = "TF102", "must be a string: a folder of this repository"
    elif not folder or folder.startswith("/") or "\\" in folder or ".." in folder.split("/"):
        code, message = "TF703", "must be a folder below the root of this repository"
    elif names_git(folder):
        code, message = "TF703", f'"{folder}" is reserved: some file systems take it for .git'
    elif not folder.isprintable():
        code, message = "TF703", "must not contain control characters"
    else:
        return []
    return [Diagnostic(code, "error", message, f'write "{key}: {key}"', path, document)]


def _normal(folder: str) -> str:
    return "/".join(part for part in folder.split("/") if part not in ("", "."))


def _overlaps(document: Document, tree: dict[str, str]) -> list[Diagnostic]:
    """Output must not be read as input, nor overwrite our state or git's."""
    folders = {key: _normal(tree.get(key, key)) for key in KEYS}
    if folded(folders["rendered"].split("/")[0]) == _OURS:
        message = f'"{folders["rendered"]}" is reserved and cannot hold output'
        return [Diagnostic("TF703", "error", message, 'write "rendered: rendered"', ("rendered",), document)]
    return [
        Diagnostic("TF703", "error", f'"rendered" and "{key}" must not be inside each other',
                   "choose separate folders", path=("rendered",), place=document)
        for key in KEYS[:-1]
        if _within(folders["rendered"], folders[key]) or _within(folders[key], folders["rendered"])
    ]  # fmt: skip


def _within(inner: str, outer: str) -> bool:
    return f"{inner}/".startswith(f"{outer}/") or not outer

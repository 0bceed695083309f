"""What an editor needs to know of a repository: schemas, and which files they are for.

The schemas are committed, so that an editor needs neither trainform nor a network. No command reads them: where they
are of an earlier version, only editors miss what is new.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from trainform.io.paths import exists
from trainform.io.settings import FILE, Settings
from trainform.workspace.bootstrap.writing import NewFile
from trainform.workspace.json_schema.names import ANY, schema_file

SCHEMAS = ".trainform/schemas"
"""The folder of the schemas, in the repository."""

ENDINGS = ("yaml", "yml")
"""How files end that a schema is for. Templates (`.yaml.j2`) are no YAML until they are rendered."""


def editor_files(settings: Settings, prefix: str = "") -> dict[str, NewFile]:
    """Every file by its path from the top of the checkout; `prefix` leads from there to the repository. Editors read
    their settings at the top, which other tools share."""
    found = {f"{prefix}{path}": NewFile(text, "replace") for path, text in schema_files()}
    chosen = {"yaml.schemas": {f"./{prefix}{path}": files for path, files in _uses(settings, prefix)}}
    advice = {"recommendations": ["redhat.vscode-yaml"]}
    found[".vscode/settings.json"] = NewFile(_json(chosen), "tell")
    found[".vscode/extensions.json"] = NewFile(_json(advice), "tell")
    return found


def schema_files() -> Iterator[tuple[str, str]]:
    """The schemas that editors need, by path from the root of the repository."""
    from trainform.workspace.json_schema.catalogue import schemas  # imports all models

    known = schemas()
    for each in (known[ANY], known[FILE]):
        yield _path(each.name), each.text()


def modeline(path: str) -> str:
    """The comment that tells editors the schema of the file at `path`, from the root of the repository."""
    schema = _path(FILE if path == FILE else ANY)
    return f"# yaml-language-server: $schema={'../' * path.count('/')}{schema}"


def with_modeline(path: str, text: str) -> str:
    """The text of a YAML file with its modeline at the top; other files as they are."""
    return f"{modeline(path)}\n{text}" if path.endswith(tuple(f".{ending}" for ending in ENDINGS)) else text


def has_schemas(root: str) -> bool:
    """Whether the repository at `root` has the schemas that modelines name."""
    return exists(root, SCHEMAS)


def _uses(settings: Settings, prefix: str) -> Iterator[tuple[str, list[str]]]:
    """Each schema with patterns of the files that it is for."""
    folders = (settings.jobs, settings.runtimes, settings.environments)
    patterns = [f"/{prefix}{folder}/**/*.{ending}" for folder in folders for ending in ENDINGS]
    yield _path(ANY), patterns
    yield _path(FILE), [f"/{prefix}{FILE}"]


def _path(name: str) -> str:
    """The file of a schema, from the root of the repository."""
    return f"{SCHEMAS}/{schema_file(name)}"


def _json(value: Any) -> str:
    return json.dumps(value, indent=2) + "\n"

"""What schemas and their files are called."""

from __future__ import annotations

ANY = "any"
"""The schema of every document, which is chosen by apiVersion and kind."""


def schema_file(name: str) -> str:
    """The file of a schema: `trainjob.json`, and `trainform.json` for `trainform.yaml`."""
    return f"{name.lower().removesuffix('.yaml')}.json"

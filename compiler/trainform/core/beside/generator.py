"""The ConfigMap that a ConfigMapGenerator stands for, made of files that somebody else has read."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trainform.api.generator import ConfigMapGenerator
    from trainform.source import Document


def generated(document: Document, generator: ConfigMapGenerator, files: Mapping[str, bytes]) -> Document:
    """The ConfigMap of `files`, by key, at the place of its generator. As kustomize does, a file that is no UTF-8 goes
    into `binaryData`; so does one that no YAML file could hold as it is."""
    metadata = generator.metadata.model_dump(exclude_defaults=True)
    tree: dict[str, Any] = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
    texts = {key: text for key, data in files.items() if (text := _text(data)) is not None}
    if texts:
        tree["data"] = dict(sorted(texts.items()))
    if others := {key: b64encode(files[key]).decode() for key in sorted(files) if key not in texts}:
        tree["binaryData"] = others
    return replace(document, tree=tree, ambiguous=False)


def _text(data: bytes) -> str | None:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    return (
        text
        if all(character in "\t\n" or character.isprintable() or character > "\x9f" for character in text)
        else None
    )

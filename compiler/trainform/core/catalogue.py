"""The shipped runtimes: usable by name, and read only when a job asks for one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trainform.api import read
from trainform.core.companions import in_order, runtime_of
from trainform.core.inputs import Input
from trainform.source import load

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(slots=True)
class Catalogue:
    """ClusterTrainingRuntimes by name: `files` maps `<name>.yaml` to the text of that file."""

    files: Mapping[str, str] = field(default_factory=dict)
    _read: dict[str, Input] = field(default_factory=dict)

    def names(self) -> list[str]:
        return sorted(file.removesuffix(".yaml") for file in self.files)

    def get(self, name: str) -> Input | None:
        """The shipped runtime `name` with its companions, or None."""
        file = f"{name}.yaml"
        if name not in self._read and file in self.files:
            documents = load(self.files[file], f"catalogue/{file}").documents
            document = next(d for d in documents if d.tree.get("kind") == "ClusterTrainingRuntime")
            found = read(document)
            companions = in_order(d.tree for d in documents if runtime_of(d.tree) == name)
            key = ("ClusterTrainingRuntime", "", name)
            self._read[name] = Input(document, key, found, tuple(found.diagnostics), companions=companions)
        return self._read.get(name)

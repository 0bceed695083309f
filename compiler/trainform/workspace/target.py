"""One environment with everything that is compiled for it; a stream is one, too."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trainform.diagnostics import Diagnostic

if TYPE_CHECKING:
    from trainform.api import Environment, Read
    from trainform.source import Document

STDIN = "<stdin>"
DEFAULT = "default"


@dataclass(slots=True)
class Inputs:
    """Documents, and what was wrong with the files that they came from."""

    documents: list[Document] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def add(self, other: Inputs) -> None:
        self.documents += other.documents
        self.diagnostics += other.diagnostics


@dataclass(slots=True)
class Target:
    """One environment with everything that is compiled for it. `folder` is empty for `default`; `partial`
    says that some of its jobs were left out; `reads` is what is known of documents that were read before. One with a
    folder and no `document` is there for its faults alone."""

    name: str = DEFAULT
    folder: str = ""
    environment: Environment | None = None
    document: Document | None = None
    inputs: Inputs = field(default_factory=Inputs)
    partial: bool = False
    reads: Mapping[Document, Read] = field(default_factory=dict)

    @property
    def namespace(self) -> str:
        """The namespace of jobs that name none."""
        return (self.environment.spec.namespace if self.environment else None) or "default"


def stream_target() -> Target:
    """The documents on stdin, an Environment perhaps among them."""
    return Target(inputs=load(STDIN, sys.stdin.buffer.read()))


def load(file: str, data: bytes) -> Inputs:
    from trainform import source

    loaded = source.load(data, file)
    return Inputs(loaded.documents, loaded.diagnostics)

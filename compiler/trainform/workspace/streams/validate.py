"""Find every problem in a stream, for `trainform validate -`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trainform.diagnostics import Diagnostic
from trainform.workspace.lints import Judgement, remarks
from trainform.workspace.streams.compile import compile_stream

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainform.core.compile import CompiledJob
    from trainform.core.plugin import PluginFailure
    from trainform.workspace.inputs import EnvironmentInputs


@dataclass(slots=True, kw_only=True)
class Validation:
    """What is wrong in some or all files: `documents` is their number, `files` are those that hold any."""

    documents: int = 0
    files: set[str] = field(default_factory=set)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    failures: list[PluginFailure] = field(default_factory=list)
    judged: Judgement = field(default_factory=Judgement)


def validate_stream(inputs: EnvironmentInputs) -> Validation:
    """Every problem of a stream."""
    documents = inputs.sources.documents
    outcome = compile_stream(inputs, _nothing, wants_job=not documents)
    return Validation(
        documents=len(documents),
        files={document.file for document in documents},
        diagnostics=[*outcome.all_diagnostics(), *remarks(outcome.judged, complete=True)],
        failures=outcome.failures,
        judged=outcome.judged,
    )


def _nothing(_jobs: Sequence[CompiledJob]) -> None:
    """What is kept of jobs besides their problems."""

"""Find every problem in a stream, for `trainform validate -`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainform.workspace.compilation import Validation
from trainform.workspace.lints import remarks
from trainform.workspace.streams.compile import compile_stream

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainform.core.compile import CompiledJob
    from trainform.workspace.inputs import EnvironmentInputs


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

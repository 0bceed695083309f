"""The machine-readable documents RenderResult and ValidateResult."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from trainform.diagnostics.diagnostic import Diagnostic
from trainform.diagnostics.order import in_order
from trainform.diagnostics.silence import Suppressed, by_reason

API_VERSION = "trainform.dev/v1alpha1"


class RenderedJob(Protocol):
    """One job of a RenderResult; `objects` is empty if the job has an error."""

    @property
    def name(self) -> str: ...
    @property
    def namespace(self) -> str: ...
    @property
    def environment(self) -> str: ...
    @property
    def objects(self) -> Sequence[dict[str, Any]]: ...
    @property
    def diagnostics(self) -> Sequence[Diagnostic]: ...
    @property
    def deviations(self) -> Sequence[str]: ...


def render_result(jobs: Iterable[RenderedJob], diagnostics: Iterable[Diagnostic]) -> dict[str, Any]:
    """The `RenderResult` document; `diagnostics` concern the whole stream or repository."""
    return {
        "apiVersion": API_VERSION,
        "kind": "RenderResult",
        "jobs": [rendered_job(job) for job in jobs],
        "diagnostics": _told(diagnostics),
    }


def validate_result(diagnostics: Iterable[Diagnostic], suppressed: Iterable[Suppressed] = ()) -> dict[str, Any]:
    """The `ValidateResult` document: every problem, in the order of the text output; and, if there are any, the
    `suppressed` ones, each with its `suppression`."""
    result = {"apiVersion": API_VERSION, "kind": "ValidateResult", "diagnostics": _told(diagnostics)}
    told = [
        one | {"suppression": group[0].to_json()}
        for group in by_reason(suppressed)
        for one in _told(each.diagnostic for each in group)
    ]
    return result | ({"suppressed": told} if told else {})


def rendered_job(job: RenderedJob) -> dict[str, Any]:
    """One of the jobs of a RenderResult."""
    return {
        "name": job.name,
        "namespace": job.namespace,
        "environment": job.environment,
        "objects": list(job.objects),
        "diagnostics": _told(job.diagnostics),
        "deviations": list(job.deviations),
    }


def _told(diagnostics: Iterable[Diagnostic]) -> list[dict[str, Any]]:
    return [diagnostic.to_json() for diagnostic in in_order(diagnostics)]

"""The Python API: one YAML stream in, one result out."""

from __future__ import annotations

from typing import Any

from trainform.core.beside.placing import in_one_stream
from trainform.core.catalogue import Catalogue
from trainform.core.compile import compile_documents
from trainform.diagnostics.documents import render_result
from trainform.installed import load_plugins
from trainform.io.resources import shipped_runtimes
from trainform.source import load
from trainform.source.limits import MAX_STREAMED


def compile_stream(text: str) -> dict[str, Any]:
    """Compile the TrainJobs of one YAML stream, as `trainform render - --format json` does. Reads nothing but `text`
    and the shipped catalogue. Returns a RenderResult document: jobs in stream order, each with its objects, diagnostics
    and deviations. Bad input never raises; it is reported in the diagnostics."""
    loaded = load(text, "<stdin>", MAX_STREAMED)
    documents, problems = in_one_stream(loaded.documents, loaded.diagnostics)
    compilation = compile_documents(
        documents,
        catalogue=Catalogue(dict(shipped_runtimes())),
        plugins=load_plugins(),
        source=problems,
    )
    return render_result(compilation.jobs, compilation.diagnostics)

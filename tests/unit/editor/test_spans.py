"""Where the elements of a document stand."""

import pytest

from trainform.diagnostics import Position
from trainform.editor.positions import Span
from trainform.editor.spans import span_of
from trainform.source import load

JOB = """\
kind: TrainJob
spec:
  runtimeRef:
    name: torch
  trainer:
    args: [x, {k: z}]
"""


@pytest.mark.parametrize(
    ("path", "of_key", "start", "end"),
    [
        (("spec", "runtimeRef", "name"), False, (4, 11), (4, 16)),
        (("spec", "runtimeRef"), True, (3, 3), (3, 13)),
        (("spec", "trainer", "args", 1, "k"), False, (6, 19), (6, 20)),
        (("spec",), False, (3, 3), (6, 22)),
    ],
)
def test_a_value_or_its_key_has_a_span(path, of_key, start, end):
    (document,) = load(JOB, "jobs/a.yaml").documents
    assert span_of(document, path, of_key=of_key) == Span(Position(*start), Position(*end))


def test_an_absent_element_has_none():
    (document,) = load(JOB, "jobs/a.yaml").documents
    assert span_of(document, ("spec", "absent")) is None


def test_paths_count_from_the_item_of_a_list():
    text = "kind: List\nitems:\n- kind: TrainJob\n  spec: {runtimeRef: {name: torch}}\n"
    (document,) = load(text, "jobs/a.yaml").documents
    assert span_of(document, ("spec", "runtimeRef", "name")) == Span(Position(4, 29), Position(4, 34))

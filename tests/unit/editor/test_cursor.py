"""What stands at a place of a document, and what is being written where there is no document yet."""

import pytest

from support.editor import cursor_in
from trainform.diagnostics import Position
from trainform.editor.cursor import context_at, element_at, span_of
from trainform.editor.positions import Lines, Span
from trainform.source import load

JOB = """\
kind: TrainJob
spec:
  runtimeRef:
    name: torch
  trainer:
    env:
    - name: A
      value: b
    args: [x, {k: z}]
"""


@pytest.mark.parametrize(
    ("line", "column", "path", "in_key"),
    [
        (4, 12, ("spec", "runtimeRef", "name"), False),
        (4, 5, ("spec", "runtimeRef", "name"), True),
        (3, 4, ("spec", "runtimeRef"), True),
        (8, 15, ("spec", "trainer", "env", 0, "value"), False),
        (9, 13, ("spec", "trainer", "args", 0), False),
        (9, 19, ("spec", "trainer", "args", 1, "k"), False),
    ],
)
def test_the_innermost_element_at_a_place(line, column, path, in_key):
    (document,) = load(JOB, "jobs/a.yaml").documents
    element = element_at(document, Position(line, column))
    assert element is not None
    assert (element.path, element.in_key) == (path, in_key)


def test_paths_count_from_the_item_of_a_list():
    text = "kind: List\nitems:\n- kind: TrainJob\n  spec: {runtimeRef: {name: torch}}\n"
    (document,) = load(text, "jobs/a.yaml").documents
    element = element_at(document, Position(4, 30))
    assert element is not None
    assert element.path == ("spec", "runtimeRef", "name")
    assert span_of(document, ("spec", "runtimeRef", "name")) == Span(Position(4, 29), Position(4, 34))


def test_no_element_stands_where_there_is_none():
    (document,) = load(JOB, "jobs/a.yaml").documents
    assert span_of(document, ("spec", "absent")) is None
    assert span_of(document, ("spec", "runtimeRef"), of_key=True) == Span(Position(3, 3), Position(3, 13))


@pytest.mark.parametrize(
    ("text", "path", "is_key", "typed"),
    [
        ("spec:\n  run‸", ("spec",), True, "run"),
        ("spec:\n  runtimeRef:\n    name: tor‸", ("spec", "runtimeRef", "name"), False, "tor"),
        ("spec:\n  runtimeRef: {name: tor‸", ("spec", "runtimeRef", "name"), False, "tor"),
        ("spec:\n  runtimeRef: {ki‸", ("spec", "runtimeRef"), True, "ki"),
        ("spec:\n  runtimeRef: {kind: X, na‸", ("spec", "runtimeRef"), True, "na"),
        ("spec:\n  trainer:\n    env:\n    - name: A\n      val‸", ("spec", "trainer", "env"), True, "val"),
        ("spec:\n  trainer:\n    env:\n    - na‸", ("spec", "trainer", "env"), True, "na"),
        ("a:\n- b:\n  - c: 1\n    d‸", ("a", "b"), True, "d"),
        ("spec:\n  command: [a, b‸", ("spec", "command"), False, "b"),
        ("kind: X\n---\nki‸", (), True, "ki"),
        ("spec:\n  ‸", ("spec",), True, ""),
        ("metadata:\n  name: x\nspec:\n  a: {b: 1}\n  c‸: 1", ("spec",), True, "c"),
    ],
)
def test_what_is_being_written(text, path, is_key, typed):
    text, at = cursor_in(text)
    found = context_at(Lines(text), at)
    assert (found.path, found.is_key, found.typed) == (path, is_key, typed)

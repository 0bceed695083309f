"""What stands at the cursor `‸`, in text that may be half typed."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.editor import cursor_in
from trainform.diagnostics import Position
from trainform.editor.place import cursor_at

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("text", "role", "path", "word"),
    [
        ("spec:\n  numNodes: 2‸", "value", ("spec", "numNodes"), "2"),
        ("spec:\n  numNodes: ‸", "value", ("spec", "numNodes"), ""),
        ("spec:\n  num‸", "key", ("spec",), "num"),
        ("spec:\n  num‸Nodes: 2", "key", ("spec",), "num"),
        ("spec:\n  ‸", "key", ("spec",), ""),
        ("spec:\n  a: 1\n  ‸\n  b: 2", "key", ("spec",), ""),
        ("spec:\n  a: 1\n‸", "key", (), ""),
        ("‸", "key", (), ""),
        ("a: 1\n---\n‸", "key", (), ""),
        ("steps:\n- ‸", "entry", ("steps", 0), ""),
        ("steps:\n- a\n- b‸", "entry", ("steps", 1), "b"),
        ("steps:\n- name: a\n  ‸", "key", ("steps", 0), ""),
        ("ref: {‸\nother: 1", "key", ("ref",), ""),
        ("ref: {name: t‸}", "value", ("ref", "name"), "t"),
        ("ref: {name: ‸", "value", ("ref", "name"), ""),
        ("ref: {name: t, ‸", "key", ("ref",), ""),
        ("command: [a, ‸", "entry", ("command", 1), ""),
        ("command: [\n  a,\n  ‸", "entry", ("command", 1), ""),
        ("a: 'b‸\nc: d", "value", ("a",), "b"),
        ('{"a": {"b": "c‸"}}', "value", ("a", "b"), "c"),
    ],
)
def test_the_cursor_is_at_a_key_a_value_or_an_entry(text, role, path, word):
    cursor = cursor_at(*cursor_in(text))
    assert cursor is not None
    assert (cursor.role, cursor.path, cursor.word) == (role, path, word)


@pytest.mark.parametrize(
    "text",
    [
        "a: b # c‸",
        "# c‸",
        "a: |\n  text ‸",
        "--- ‸",
        "a:‸",
        "a: b ‸",
        "steps:\n  - name: a\n  ‸",
    ],
)
def test_the_cursor_is_where_nothing_can_stand(text):
    assert cursor_at(*cursor_in(text)) is None


@pytest.mark.parametrize(
    ("text", "element"), [("a: {b‸: 1}", ("a", "b")), ("a: {b: 1‸}", ("a", "b")), ("a: {b‸", ("a",))]
)
def test_a_key_stands_for_its_element_once_it_has_a_colon(text, element):
    cursor = cursor_at(*cursor_in(text))
    assert cursor is not None
    assert cursor.element == element


@pytest.mark.parametrize("file", ["runtimes/torch-distributed.yaml", "jobs/climate/downscaling.yaml"])
def test_text_may_end_anywhere(file):
    text = (ROOT / file).read_text()
    for end in range(len(text)):
        line, start = text.count("\n", 0, end) + 1, text.rfind("\n", 0, end) + 1
        cursor_at(text[:end], Position(line, end - start + 1))
        cursor_at(text[end:], Position(1, 1))


@pytest.mark.parametrize("at", [Position(0, 0), Position(9, 1), Position(1, 99), Position(1, -1)])
def test_a_place_outside_of_the_text_is_no_mistake(at):
    cursor_at("a: b", at)

"""Where the elements of a document stand, and how they were written."""

from __future__ import annotations

import pytest

from trainform.source import load

TEXT = """\
# a comment
kind: TrainJob
---
kind: TrainJob
metadata:
  name: llm
  labels:
spec:
  trainer:
    env:
    - name: É😀
      value: on
    - {name: "b", value: 'x'}
"""


@pytest.fixture
def document():
    return load(TEXT, "jobs/llm.yaml").documents[1]


@pytest.mark.parametrize(
    ("path", "position"),
    [
        ((), (4, 1)),
        (("kind",), (4, 7)),
        (("metadata",), (5, 1)),
        (("metadata", "name"), (6, 9)),
        (("metadata", "labels"), (7, 10)),
        (("spec", "trainer", "env", 0), (11, 7)),
        (("spec", "trainer", "env", 0, "value"), (12, 14)),
        (("spec", "trainer", "env", 1, "value"), (13, 26)),
    ],
)
def test_a_position_is_that_of_the_value(document, path, position):
    assert document.position(path) == position


@pytest.mark.parametrize(
    "path", [("metadata", "uid"), ("metadata", "uid", "x", 3), ("metadata", 0), ("metadata", "labels", "a")]
)
def test_an_absent_element_stands_where_its_nearest_parent_does(document, path):
    nearest = ("metadata", "labels") if "labels" in path else ("metadata",)
    assert document.position(path) == document.position(nearest)
    assert document.key_position(path) == document.key_position(nearest)


@pytest.mark.parametrize(
    ("path", "position"),
    [
        (("kind",), (4, 1)),
        (("spec", "trainer", "env"), (10, 5)),
        (("spec", "trainer", "env", 1), (13, 7)),
        ((), (4, 1)),
    ],
)
def test_the_position_of_a_key(document, path, position):
    assert document.key_position(path) == position


def test_lines_are_those_of_the_file(document):
    assert (document.file, document.line(6), document.line(1)) == (
        "jobs/llm.yaml",
        "  name: llm",
        "# a comment",
    )
    assert (document.line(0), document.line(99)) == ("", "")


@pytest.mark.parametrize(
    ("path", "written"),
    [
        (("spec", "trainer", "env", 0, "value"), "on"),
        (("spec", "trainer", "env", 1, "value"), None),
        (("metadata", "labels"), ""),
        (("metadata",), None),
        (("metadata", "absent"), None),
        (("metadata", "name", "deeper"), None),
    ],
)
def test_a_plain_scalar_is_known_as_it_was_written(document, path, written):
    assert document.written(path) == written


def test_paths_of_a_list_item_count_from_the_item():
    first, second = load("kind: List\nitems:\n- {a: 0644}\n-\n  b:\n    c: 1\n", "f.yaml").documents
    assert (first.position(("a",)), first.written(("a",))) == ((3, 7), "0644")
    assert (second.position(("b", "c")), second.key_position(("b", "c"))) == ((6, 8), (6, 5))
    assert second.position(()) == (5, 3)


def test_an_element_that_was_merged_stands_where_its_anchor_does():
    (document,) = load("base: &b {p: 1, q: 2}\njob:\n  <<: *b\n  q: 3\n", "f.yaml").documents
    assert document.position(("job", "p")) == (1, 14)
    assert document.position(("job", "q")) == (4, 6)


def test_of_duplicate_keys_the_last_is_found():
    (document,) = load("a: 1\na: 2\n", "f.yaml").documents
    assert document.position(("a",)) == (2, 4)


def test_lines_end_at_newlines_only():
    (document,) = load("a: '\u2028'\r\nb: 1\rc: 2", "f.yaml").documents
    assert (document.position(("b",)), document.position(("c",))) == ((2, 4), (3, 4))
    assert document.line(1) == "a: '\u2028'"


def test_keys_are_found_by_the_text_that_json_has_for_them():
    (document,) = load("1: a\n'2': b\n", "f.yaml").documents
    assert (document.position(("1",)), document.position(("2",))) == ((1, 4), (2, 6))


@pytest.mark.parametrize(
    "text",
    [
        "x:\n" + "".join(f"  k{i}: {i}\n" for i in range(20_000)),
        "x: {" + ", ".join(f"k{i}: {i}" for i in range(20_000)) + "}\n",
    ],
)
def test_thousands_of_places_in_one_mapping_take_no_time(text):
    [document] = load(text, "a.yaml").documents
    places = [document.position(("x", f"k{i}")) for i in range(20_000)]
    lines = [document.line(place.line) for place in places[-100:]]
    assert len(set(places)) == len(places)
    assert all("k19999: 19999" in line for line in lines[-1:])

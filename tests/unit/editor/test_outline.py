"""YAML that may be half typed."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from trainform.diagnostics import Position
from trainform.editor.outline import MOST_CHARACTERS, outline
from trainform.source import load

ROOT = Path(__file__).parents[3]


def is_plain(file: Path) -> bool:
    """Whether nothing stands elsewhere than it is written: no alias, no item of a List; and no mistakes."""
    loaded = load(file.read_bytes(), "")
    aliases = re.search(r": \*[a-z]+$", file.read_text(), re.MULTILINE)
    return not (loaded.diagnostics or aliases or any(each.prefix for each in loaded.documents))


PATTERNS = ("golden/core/*/input/*.yaml", "runtimes/*.yaml", "jobs/*/*.yaml")
WHOLE = sorted(filter(is_plain, (file for pattern in PATTERNS for file in ROOT.glob(pattern))))


def leaves(tree: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    below = [*(tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ())]
    if not below:
        yield path
    for key, value in below:
        yield from leaves(value, (*path, key))


@pytest.mark.parametrize("file", WHOLE, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_of_whole_text_it_has_the_elements_of_the_parser_and_their_places(file):
    text = file.read_text()
    loaded = load(text, "")
    roots = [root for root in outline(text) if root.children]
    for root, document in zip(roots, loaded.documents, strict=True):
        found = {node.path: node for node in root.walk() if not node.children}
        assert sorted(found, key=str) == sorted(leaves(document.tree), key=str)
        for path, node in found.items():
            if node.shape == "scalar":
                assert node.value is not None
                assert node.value.span.start == document.position(path)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("spec:\n  trainer:\n    num", {"spec": {"trainer": {}}}),
        ("spec:\n  image: 'a: b\n  other: c\n", {"spec": {"image": "a: b", "other": "c"}}),
        ("spec:\n  limits: {cpu: 1, mem\n  other: c\n", {"spec": {"limits": {"cpu": "1"}, "other": "c"}}),
        ("spec:\n  command: [a, 'b, c\n  other: c\n", {"spec": {"command": ["a", "b, c"], "other": "c"}}),
        ("spec:\n  command: [\n    a,\n    b\n  ]\n  other: c\n", {"spec": {"command": ["a", "b"], "other": "c"}}),
        ("a: |\n  b: c\n  d\ne: f\n", {"a": "", "e": "f"}),
        ("a: b # c: d\ne: f#g\n", {"a": "b", "e": "f#g"}),
        ("a: {b: 1}}\nc: d\n", {"a": {"b": "1"}, "c": "d"}),
        ("a:\n- b: 1\n  c: 2\n-\n- d\ne: f\n", {"a": [{"b": "1", "c": "2"}, "", "d"], "e": "f"}),
        ("a: {{ env.b }}\n{% for x in y %}\nc: [{{ x }}, d]\n", {"a": "{{ env.b }}", "c": ["{{ x }}", "d"]}),
        ('{"a": {"b":[1,{"c":"d"}]}}', {"a": {"b": ["1", {"c": "d"}]}}),
        ("[" * 200, None),
    ],
)
def test_of_half_typed_text_it_keeps_what_is_whole(text, plain):
    [root] = outline(text)
    assert plain is None or root.plain() == plain


def test_each_document_has_its_own_root():
    assert [root.plain() for root in outline("a: b\n---\nc: d\n--- # e\nf: g")] == [{"a": "b"}, {"c": "d"}, {"f": "g"}]


@pytest.mark.parametrize("line", ["a" + " " * 200_000 + "b", "a: [" + "{{ " * 100_000, "a: [" + '"' * 100_000])
def test_a_long_line_is_read_once(line):
    """Minutes, if the rest of the line were looked at anew for each character."""
    start = time.process_time()
    outline(line)
    assert time.process_time() - start < 5


def test_a_text_that_is_too_long_has_no_elements():
    [root] = outline("a: b\n" * (MOST_CHARACTERS // 5 + 1))
    assert root.children == []


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_end_as_an_editor_has_it(end):
    [root] = outline(f"a: b{end}c:{end}  d: e{end}")
    node = root.at("c", "d")
    assert node is not None
    assert (node.text, node.span.start) == ("e", Position(3, 3))

"""Which documents are read without the parser."""

from __future__ import annotations

import pytest

from trainform.source import load
from trainform.source.plain import DEEPEST, LONGEST, plain_tree


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a: x\nb: 1\nc: true\nd:\n", {"a": "x", "b": 1, "c": True, "d": None}),
        ("---\n# why\na: x # because\n\nb: x#y\n", {"a": "x", "b": "x#y"}),
        ("a:\n  b:\n    c: 1\n  d: 2\ne: 3\n", {"a": {"b": {"c": 1}, "d": 2}, "e": 3}),
        ("a:\n- x\n- w\nb:\n  - z\n", {"a": ["x", "w"], "b": ["z"]}),
        ("- a: 1\n  b:\n  - 2\n-   c: 3\n    d: 4\n", [{"a": 1, "b": [2]}, {"c": 3, "d": 4}]),
        ("a: \"1\"\nb: 'x: y'\nc: ''\n", {"a": "1", "b": "x: y", "c": ""}),
        ("a: example/img:1\nb: --lr=0.1\nc: $(X) y\n", {"a": "example/img:1", "b": "--lr=0.1", "c": "$(X) y"}),
        ('a: ["x", "y"]\nb: [x, 1, ~]\nc: []\n', {"a": ["x", "y"], "b": ["x", 1, None], "c": []}),
        ("a: {b: 1, c.d/e: 8Gi, f: {g: [h]}}\ni: {}\n", {"a": {"b": 1, "c.d/e": "8Gi", "f": {"g": ["h"]}}, "i": {}}),
        (
            "a: {b: hf://x/y, c: img:1}\nd: [http://x:1/y]\n",
            {"a": {"b": "hf://x/y", "c": "img:1"}, "d": ["http://x:1/y"]},
        ),
        ("a: |\n  x\n   y\n\n  z: 1\n\nb: |-\n  w\n", {"a": "x\n y\n\nz: 1\n", "b": "w"}),
        ("a:\n- |\n  x\n- b: |\n    y\n", {"a": ["x\n", {"b": "y\n"}]}),
    ],
)
def test_plain_yaml_needs_no_parser(text, tree):
    assert plain_tree(text) == tree


@pytest.mark.parametrize(
    "text",
    [
        *("a: &x 1\n", "a: *x\n", "a: !!str 1\n", "<<: {a: 1}\n", "%YAML 1.1\n---\na: 1\n", "? a\n: b\n"),
        *("a: é\n", "a:\tb\n", "a: b\r", "a: \0\n", "\ufeffa: 1\n", "a: 1"),
        *(
            "a: x\n  y\n",
            "a: >\n  x\n",
            "a: |+\n  x\n",
            "a: |2\n  x\n",
            "a: |\n\n  x\n",
            "a: |\n    x\n  y\n",
            "a: |\nb: 1\n",
        ),
        *('a: "\\n"\n', "a: 'it''s'\n", 'a: "x\n  y"\n', "a: [x,\n  y]\n", '"a": 1\n', "1: a\n", "yes: a\n"),
        *("a: 22:22\n", "a: 2026-01-01\n", "a: .inf\n", "a: =\n", "a: [.nan]\n"),
        *(
            "a: 1\na: 2\n",
            "a: {b: 1, b: 2}\n",
            "a: [b: 1]\n",
            "a: [x y]\n",
            "a: {b:1}\n",
            "a: [x\n",
            "a: [x]]\n",
            "a: {y: 1}\n",
        ),
        *(
            "a: b: c\n",
            "a: x\n b: 1\n",
            "  a: 1\n b: 2\n",
            "- a\nb: 1\n",
            "a: 1\n- b\n",
            "a:\n    b: 1\n  c: 2\n",
            "x\n",
            "",
            "# x\n",
        ),
        "a: [" + "[" * DEEPEST + "]" * DEEPEST + "]\n",
        "".join(f"{' ' * depth}a:\n" for depth in range(DEEPEST + 2)),
        f"a: {'x' * LONGEST}\n",
    ],
)
def test_at_a_surprise_the_parser_reads_the_document(text):
    assert plain_tree(text) is None


def test_a_plain_document_has_the_positions_of_its_elements():
    (document,) = load("# why\na:\n  b: [x, y]\n", "f.yaml").documents
    assert document.position(("a", "b", 1)) == (3, 10)
    assert document.key_position(("a", "b")) == (3, 3)

"""What is read without the parser is what the parser reads, with nothing to tell of."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from support.corpus import FAMILIES, cases
from trainform.source.limits import Expansion
from trainform.source.parse import parse
from trainform.source.part import Part
from trainform.source.plain import plain_tree
from trainform.source.text import Source, decode, split_documents

ROOT = Path(__file__).parents[2]
FILES = [
    file
    for folder in ("golden", "jobs", "runtimes", "environments", "rendered", "tests/fuzz/corpus/loader")
    for file in sorted((ROOT / folder).rglob("*"))
    if file.is_file()
]


def documents(text: str | bytes) -> list[str]:
    return [part for _, part in split_documents(decode(text, "f.yaml")[0].text)]


def is_plain(text: str) -> bool:
    """Whether a document is read without the parser; if so, it is read alike."""
    tree = plain_tree(text)
    if tree is None:
        return False
    parsed = parse(Part(Source("f.yaml", text), 0, text), Expansion())
    assert (repr(tree), [], False) == (repr(parsed.tree), [*parsed.diagnostics], parsed.ambiguous)
    return True


@pytest.mark.parametrize("family", FAMILIES)
def test_the_conformance_corpus_is_read_alike(family):
    for case in cases(family):
        for document in documents(case.input):
            is_plain(document)


def test_files_of_repositories_are_read_alike_and_most_without_the_parser():
    read = [is_plain(document) for file in FILES for document in documents(file.read_bytes()) if document.strip()]
    assert sum(read) > 0.8 * len(read)


def test_a_document_that_ends_anywhere_is_read_alike():
    texts = {document for file in FILES for document in documents(file.read_bytes()) if 300 < len(document) < 1_500}
    for text in random.Random(1).sample(sorted(texts), 25):
        for end in range(len(text)):
            is_plain(text[:end])
            is_plain(f"{text[:end]}\n")


INDENTS = st.sampled_from(["", "  ", "    ", " ", "      "])
STARTS = st.sampled_from(
    ["", "- ", "-   ", "a: ", "b: ", "- a: ", "- b:  ", "c.d/e-f: ", "on: ", "a:", "-", "- - ", "? "]
)
ENDS = st.sampled_from(
    ["\n"] * 8 + [" # c\n", "  \n", "\n\n", "#\n", "\n# c\n", "\n  # c\n", " #\n", "\t\n", ":\n", ""]
)
WORDS = st.sampled_from(
    [
        *(
            "x",
            "train.py",
            "example/img:1",
            "--lr=0.1",
            "a b",
            "a  #b",
            "a#b",
            "a: b",
            "a :b",
            "http://x:1/y",
            "$(X)",
            "-",
            "?",
        ),
        *(
            "1",
            "-1",
            "0o17",
            "1_0",
            "1e3",
            ".5",
            ".inf",
            "22:22",
            "2020-01-01",
            "8Gi",
            "0x",
            "=",
            "<<",
            "~",
            "null",
            "Yes",
            "n",
        ),
        *(
            '"x"',
            '"a: b"',
            '"\\n"',
            '""',
            "'x'",
            "'it''s'",
            "''",
            '"a',
            "'a",
            '"a" b',
            "*a",
            "&a x",
            "!!str 1",
            "@x",
            "%x",
            "é",
        ),
        *(
            "[]",
            "{}",
            "[a, b]",
            '["a", "b"]',
            '["a", b]',
            '["a","b"]',
            "[a, [b, {c: 1}]]",
            "[a b]",
            "[a, ]",
            "[a: b]",
            "[",
            "[a",
        ),
        *(
            "{a: 1}",
            "{a: 1, a: 2}",
            '{"a": 1}',
            '{"a":1}',
            "{a: {b: [1, ~]}}",
            "{a:1}",
            "{a: }",
            "{a, b: 1}",
            "{1: a}",
            "{y: 1}",
        ),
        *(
            "[a] b",
            "[a]]",
            "[-1, -a, -]",
            "{a: b:c}",
            '["a # b"]',
            "[1.0, 1e2, .inf]",
            "['a', \"b\"]",
            "{'a': 'b'}",
            "[=]",
            "[<<]",
        ),
        *(
            "|\n    x\n",
            "|-\n      x\n       y\n\n",
            "|\n\n    x\n",
            "|\n  x\n y\n",
            "|+\n    x\n",
            ">\n    x\n",
            "|",
            "|2\n     x\n",
        ),
    ]
)
LINES = st.lists(st.tuples(INDENTS, STARTS, WORDS | st.just(""), ENDS).map("".join), max_size=8).map("".join)
HEADS = st.sampled_from(["", "", "", "---\n", "--- \n", "--- # c\n", "# c\n", "\n", "%YAML 1.1\n---\n", "--- a\n"])


@settings(max_examples=500, deadline=None)
@given(HEADS, LINES)
@example("", "a:\n- b: 1\n  c:\n  - d\n- e\nf:\n")
@example("", "a: |-\n  b: c\n   \n    d\n\ne: f\n")
@example("", "a:\nb: x\n  c: y\n")
def test_lines_are_read_alike(head, lines):
    for document in documents(head + lines):
        is_plain(document)


@settings(max_examples=300, deadline=None)
@given(st.text(st.sampled_from("ab-:#[]{},\"'|~ \n01.\\/"), max_size=30))
def test_signs_are_read_alike(text):
    for document in documents(f"a: {text}\n"):
        is_plain(document)


JSON_TEXTS = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=6) | st.sampled_from(
    ["é", "a\n", "\\", "x" * 1_100, "y", "1", "<<"]
)
JSON_TREES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | JSON_TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(JSON_TEXTS, inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=500, deadline=None)
@given(
    st.dictionaries(JSON_TEXTS, JSON_TREES, max_size=4),
    st.sampled_from([(", ", ": "), (",", ":"), (" , ", " : ")]),
    st.sampled_from(["", "---\n"]),
    st.sampled_from(["", "\n", "\n\n", " \n", " # c\n", "}\n", "\na: 1\n"]),
    st.integers(0, 200),
    st.sampled_from(["", "", "", ",", '"', ":", " ", "[", "}", "#", "1", "\t"]),
)
@example({"a": {}}, (",", ":"), "", "", 0, "").via("no line break at the end")
def test_json_in_a_line_is_read_alike(tree, separators, head, end, at, slip):
    text = json.dumps(tree, separators=separators)
    for document in documents(f"{head}{text[:at]}{slip}{text[at:]}{end}"):
        is_plain(document)


def test_json_in_a_line_is_read_without_the_parser():
    assert is_plain('{"a": [1, true, null, "x"], "b": {"c": 0.5}}\n')

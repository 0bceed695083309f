"""Whatever the text, the loader answers with documents and diagnostics, never with an exception."""

from __future__ import annotations

import json

import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from trainform.source import load

LEAVES = (
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(st.characters(exclude_categories=["Cs"]))
)
TREES = st.recursive(
    LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text("abc", min_size=1), inner), max_leaves=10
)
OBJECTS = st.dictionaries(st.text("abc", min_size=1), TREES, min_size=1)

WORDS = ("a", "on", "1e3", "22:22", ".inf", "{{ x }}", "é😀", "!!int ", "&x", "*x ", "<<: ", "|\n", "...")
SIGNS = (": ", ":", "- ", "-", "[", "]", "{", "}", ", ", "'", '"', "!", "?", " #", "%", "@", "\\")
SPACES = ("\n", "\n  ", "\n---\n", "\t", "\r\n", "\0", "\u2028")
SOUP = st.lists(st.sampled_from(WORDS + SIGNS + SPACES), max_size=25).map("".join)


def paths(tree, prefix=()):
    yield prefix
    entries = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for step, value in entries:
        yield from paths(value, (*prefix, step))


@settings(max_examples=400, deadline=None)
@given(SOUP | st.text() | st.binary())
def test_any_text_gives_documents_and_problems_with_places_in_the_file(text):
    loaded = load(text, "f.yaml")
    decoded = text if isinstance(text, str) else text.decode(errors="replace")
    lines = 1 + decoded.count("\n") + decoded.count("\r")
    for problem in loaded.diagnostics:
        assert problem.message
        assert problem.position
        assert 1 <= problem.position.line <= lines
    for document in loaded.documents:
        assert all(document.position(path).line <= lines for path in paths(document.tree))
        document.plain_scalars_read_differently()


@settings(max_examples=60, deadline=None)
@given(OBJECTS)
def test_json_and_its_yaml_are_read_alike(tree):
    text = json.dumps(tree, indent=1)
    assert load(text, "f.json").documents[0].tree == tree
    assert load(yaml.safe_dump(tree, default_style='"'), "f.yaml").documents[0].tree == tree


@settings(max_examples=200, deadline=None)
@given(SOUP)
@example("22:22<<: \u2028a")  # a key without a colon, on the line of another that has one, for line breaks of YAML 1.1
def test_a_document_is_read_whatever_stands_before_it(soup):
    text = soup.replace("%", "") + "\n---\na: 1\n"  # a directive belongs to the document below
    assert load(text, "f.yaml").documents[-1].tree == {"a": 1}

"""Strings made to be mistaken survive every reader."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
import ruamel.yaml
import ryaml
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from trainform.output.emitter import emit
from trainform.source import load

ALPHABETS = [
    "0123456789_+-.eExXobBaAfF:",
    "yYnNoOtTfF~=<>",
    "abc :#-?*&!|>'\"%@`{}[],\n",
    "aé\u2028\u0085\ufeff\x00\x07\x7f\xa0😀\u200d\t\n ",
    "/.$()-_:#ab",
    " \n#-:a",
]
WORDS = [
    *(
        "y",
        "n",
        "yes",
        "no",
        "on",
        "off",
        "true",
        "false",
        "null",
        "~",
        ".inf",
        "-.inf",
        ".nan",
        "inf",
        "None",
    ),
    *("=", "<<", "1e3", "7e10", "0o17", "0x1F", "1_000", "_7", "22:22", "2026-11-27", "2026-11-27T10:00:00Z"),
    *(
        "0b11",
        "1E",
        "0644",
        "08",
        "-.5",
        "+1",
        "1Mi",
        "1m",
        "0.5Gi",
        "--",
        "---",
        "...",
        "-",
        "?",
        "&",
        "*",
        "%",
    ),
]


def hostile(count: int) -> list[str]:
    """The same strings in every run: words of all dialects, and short soups of dangerous characters."""
    chance = random.Random(7)
    soups = ("".join(chance.choices(chance.choice(ALPHABETS), k=chance.randint(0, 9))) for _ in range(count))
    return sorted({*WORDS, *soups})


def ruamel_reader(version: tuple[int, int]) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        reader = ruamel.yaml.YAML(typ="safe", pure=True)
        reader.version = version
        return reader.load(text)

    return read


READERS: dict[str, tuple[Callable[[str], Any], int]] = {
    "PyYAML": (lambda text: yaml.load(text, Loader=yaml.CSafeLoader), 6000),
    "ours": (lambda text: load(text, "f.yaml").documents[0].tree, 6000),
    "Rust": (ryaml.loads, 6000),  # type: ignore[attr-defined]
    "YAML 1.1": (ruamel_reader((1, 1)), 400),
    "YAML 1.2": (ruamel_reader((1, 2)), 400),
}


@pytest.mark.parametrize("reader", READERS)
def test_hostile_strings_survive(reader):
    read, count = READERS[reader]
    strings = hostile(count)
    tree = {
        "values": strings,
        "keys": dict.fromkeys(strings, 1),
        "nested": [[{text: [text]}] for text in strings],
    }
    assert read(emit(tree)) == tree


TEXT = st.text(st.characters(exclude_categories=["Cs"]))
FLOATS = st.floats(allow_nan=False, allow_infinity=False).filter(lambda number: not number.is_integer())
LEAVES = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | FLOATS | TEXT
KEYS = st.text("ab: \n")
TREES: st.SearchStrategy[Any] = st.recursive(
    LEAVES, lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner), max_leaves=10
)


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(KEYS, TREES, min_size=1))
def test_any_tree_comes_back_and_is_emitted_alike(tree):
    text = emit(tree)
    assert yaml.load(text, Loader=yaml.CSafeLoader) == tree
    assert load(text, "f.yaml").documents[0].tree == tree
    assert emit(load(text, "f.yaml").documents[0].tree) == text
    assert not any(line != line.rstrip() for line in text.split("\n"))

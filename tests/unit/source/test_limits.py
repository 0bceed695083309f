"""What is refused for its size, before it can hurt."""

from __future__ import annotations

import pytest

from trainform.source import load
from trainform.source.limits import MAX_DEPTH
from trainform.source.text import MAX_SIZE


def codes(text):
    return [d.code for d in load(text, "f.yaml").diagnostics]


def bomb(levels):
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, levels)]
    return "\n".join(lines)


def test_aliases_may_expand_to_a_million_nodes():
    assert codes(bomb(5)) == []
    assert codes(bomb(6)) == ["TF004"]


@pytest.mark.parametrize("levels", [9, 90])
def test_an_alias_bomb_is_refused_without_expanding_it(levels):
    assert codes(bomb(levels)) == ["TF004"]


def test_nesting_by_aliases_counts():
    chain = "\n".join(["a0: &a0 [1]", *(f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, MAX_DEPTH + 1))])
    assert codes(chain) == ["TF004"]


@pytest.mark.parametrize(
    "text",
    [
        "a: " + "[" * 100_000,
        "a: " + "{a: " * 100_000,
        "- " * 100_000,
        "? " * 100_000,
        "\n".join(" " * n + "a:" for n in range(3000)),
        "a: &x 1\nb: &x 2\nc: " + "[" * 900,
    ],
)
def test_absurd_depth_is_refused(text):
    assert codes(text) == ["TF004"]


def test_depth_up_to_the_limit_is_read():
    nested = "[" * (MAX_DEPTH - 2) + "]" * (MAX_DEPTH - 2)
    assert codes(f"a: {nested}") == []
    assert codes(f"a: [[{nested}]]") == ["TF004"]


@pytest.mark.parametrize("text", ["#" * (MAX_SIZE + 1), b"#" * (MAX_SIZE + 1)])
def test_absurd_size_is_refused(text):
    assert codes(text) == ["TF004"]

"""Regular expressions mean the same in every Python that is supported. In 3.11.0 to 3.11.4 (Debian 12 has 3.11.2), a
repeated group that gives nothing back, such as `(?:ab?c)*+`, matches what it should not, or loses characters of what it
matched (gh-106052). A single repeated character, `[ab]*+`, is fine, and so are atomic groups."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = [path for folder in ("compiler", "plugins", "scripts") for path in sorted((ROOT / folder).rglob("*.py"))]

_NOT_A_SIGN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
"""What is escaped, and sets of characters."""
_POSSESSIVE_GROUP = re.compile(r"\)(?:[*+?]|\{[0-9,]+\})\+")


def possessive_groups(source: str) -> list[int]:
    """The lines of texts that repeat a group and give nothing back."""
    return [line for line, text in texts(source) if _POSSESSIVE_GROUP.search(_NOT_A_SIGN.sub("x", text))]


def texts(source: str) -> Iterator[tuple[int, str]]:
    """The texts in a module; what is filled into an f-string counts as a letter."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.JoinedStr):
            parts = (part.value if isinstance(part, ast.Constant) else "x" for part in node.values)
            yield node.lineno, "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_repeated_group_gives_nothing_back(path):
    assert possessive_groups(path.read_text()) == []


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("(?:ab?c)*+", True),
        ("(-(?:[ ]++|x))?+", True),
        ("(?:ab){2,3}+", True),
        (r"(?:\([)]\))++", True),
        ("[ab]*+", False),
        ("(?>ab?c)*", False),
        ("[()*+]", False),
        (r"\)++", False),
    ],
)
def test_what_is_found(pattern, found):
    assert bool(possessive_groups(f"_ = re.compile({pattern!r})")) == found

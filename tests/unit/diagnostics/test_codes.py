"""The registry of codes and the code that uses it say the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from trainform.diagnostics.codes import CODES, is_adjustable

ROOT = Path(__file__).parents[3]
SOURCES = sorted(
    path for folder in ("compiler", "plugins") for path in (ROOT / folder).rglob("*.py") if path.name != "codes.py"
)
TEXTS = [path.read_text() for path in SOURCES]
USED = {code for text in TEXTS for code in re.findall(r'"(TFD?\d+)"', text)} | {
    f"TF{code}" for text in TEXTS for code in re.findall(r'deviates(?:_each)?\(\s*(?:plan, )?"(D\d\d)"', text)
}


def test_every_code_in_use_is_registered():
    assert sorted(USED - CODES.keys()) == []


def test_every_registered_code_is_in_use():
    assert sorted(CODES.keys() - USED) == []


def test_codes_stand_in_order():
    assert list(CODES) == sorted(CODES, key=lambda code: (code.startswith("TFD"), code))


@pytest.mark.parametrize("title", CODES.values())
def test_a_title_is_a_short_phrase(title):
    assert 0 < len(title) <= 60
    assert not title.endswith(".")


MILD = sorted(
    {
        code
        for path in (ROOT / "golden").glob("*/*/expected/diagnostics.txt")
        for code in re.findall(r"^\S+: (?:warning|info) (TF\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
)


@pytest.mark.parametrize("code", MILD)
def test_a_team_may_set_every_code_that_is_a_warning_somewhere(code):
    assert is_adjustable(code)

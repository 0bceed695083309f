"""docs/environments.md has every key of an Environment, in the words of the models."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.environment_reference import keys, reference

PAGE = Path(__file__).parents[3] / "docs" / "environments.md"
START, END = "<!-- every key: generated from the models -->\n", "<!-- end of every key -->\n"


def test_the_page_is_up_to_date(request: pytest.FixtureRequest) -> None:
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(START)
    old, _, after = rest.partition(END)
    if request.config.getoption("--update-golden"):
        PAGE.write_text(before + START + reference() + END + after, encoding="utf-8")
    else:
        assert old == reference(), "pytest tests/unit/api/test_environment_reference.py --update-golden"


@pytest.mark.parametrize("key", sorted(keys() - {"apiVersion", "kind", "metadata", "spec"}))
def test_no_key_is_left_out(key):
    assert f".{key}`" in reference()

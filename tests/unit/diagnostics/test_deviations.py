"""`docs/deviations.md` tells every deviation."""

from __future__ import annotations

import re
from pathlib import Path

from trainform.diagnostics.deviations import DEVIATIONS

PAGE = (Path(__file__).parents[3] / "docs" / "deviations.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| (?:\[)?(D\d\d)(?:\]\(codes/TFD\d\d\.md\))? \| (\S+) \|", PAGE, re.MULTILINE))


def test_every_deviation_is_on_the_page_with_its_severity():
    never_reported = {"D10": "–", "D11": "–", "D16": "–"}
    assert dict(sorted(ROWS.items())) == ROWS
    assert {**{code: each.severity for code, each in DEVIATIONS.items()}, **never_reported} == ROWS


def test_every_reported_deviation_has_a_link_to_its_code():
    assert [code for code in DEVIATIONS if f"[{code}](codes/TF{code}.md)" not in PAGE] == []

"""What is told about inputs that the controller and the API server accept: each code and number was looked at, and each
page says when its code is told although nothing is wrong."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path

import trainform
from support.corpus import FAMILIES, cases
from trainform.diagnostics.codes import CODES

PAGES = Path(__file__).parents[2] / "docs" / "codes"

VALID = 407
"""Inputs without an error."""

TOLD = {
    "TF320": 70,
    "TF322": 9,
    "TF342": 10,
    "TF360": 33,
    "TF361": 32,
    "TF406": 22,
    "TF407": 27,
    "TF529": 18,
    "TF530": 142,
    "TF532": 205,
    "TF601": 79,
    "TF603": 7,
    "TF604": 128,
    "TF606": 21,
    "TF607": 223,
    "TF608": 390,
    "TF610": 12,
    "TF611": 1,
    "TF614": 113,
    "TF615": 6,
    "TF624": 7,
    "TF632": 34,
    "TF633": 6,
    "TF634": 12,
    "TF635": 5,
    "TF650": 307,
}
"""By code: in how many of the valid inputs it is told. A number that grows is a lint that fires where it did not
before: look at each of the new ones before you write it down. Deviations: see `test_conformance.py`."""


@cache
def told() -> tuple[int, Counter[str]]:
    """How many inputs are valid, and in how many of them each code is told."""
    valid, found = 0, Counter[str]()
    for case in (each for family in FAMILIES for each in cases(family)):
        result = trainform.compile_stream(case.input)
        problems = [*result["diagnostics"], *(each for job in result["jobs"] for each in job["diagnostics"])]
        if all(each["severity"] != "error" for each in problems):
            valid += 1
            found.update({each["code"] for each in problems})
    return valid, Counter({code: found[code] for code in sorted(found) if not code.startswith("TFD")})


def test_lints_on_valid_inputs_are_those_that_were_looked_at():
    assert told() == (VALID, TOLD)


def test_the_page_of_each_says_when_it_is_fine():
    assert TOLD.keys() <= CODES.keys()
    pages = {code: (PAGES / f"{code}.md").read_text(encoding="utf-8") for code in TOLD}
    assert [code for code, page in pages.items() if "\n## When it is fine\n" not in page] == []

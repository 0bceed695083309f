"""Every code has a page with cause, example and cure, and what the pages show is true."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from trainform import compile_stream
from trainform.diagnostics.codes import CODES
from trainform.diagnostics.pages import page
from trainform.workspace.inputs import read_stream
from trainform.workspace.streams.validate import validate_stream

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "codes"
PAGES = {path.stem: path.read_text(encoding="utf-8") for path in FOLDER.glob("TF*.md")}
BLOCKS = {code: re.findall(r"^```yaml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL) for code, text in PAGES.items()}

OF_REPOSITORIES = ("TF17", "TF7", "TF8", "TF9")
"""Codes that no single stream can show: they concern files, git, migration, machines and plugins. See
`test_code_stories.py`."""

WITHOUT_EXAMPLE: list[str] = []
"""Pages that tell the example in words. This list may only become shorter."""

WITHOUT_CURED_EXAMPLE = [
    "TF324",
    "TF325",
    "TFD01",
    "TFD03",
    "TFD05",
    "TFD07",
    "TFD08",
    "TFD09",
    "TFD12",
    "TFD13",
    "TFD14",
    "TFD15",
    "TFD17",
    "TFD18",
    "TFD19",
    "TFD20",
    "TFD21",
]
"""Pages whose cure is told in words; most are deviations, where nothing is wrong. This list may only become shorter."""


def has_story(code: str) -> bool:
    """Whether the page's example is a whole repository, which `test_code_stories.py` plays."""
    return "```console\n" in PAGES[code]


def told(text: str) -> list[tuple[str, str, str]]:
    """Code, severity and message of all that is said about a stream."""
    result = compile_stream(text)
    found = [*result["diagnostics"], *(each for job in result["jobs"] for each in job["diagnostics"])]
    found += [each.to_json() for each in validate_stream(read_stream(text.encode())).diagnostics]
    return [(each["code"], each["severity"], each["message"]) for each in found]


def codes(text: str) -> set[str]:
    return {code for code, _, _ in told(text)}


def errors(text: str) -> set[tuple[str, str]]:
    return {(code, message) for code, severity, message in told(text) if severity == "error"}


def test_every_code_has_a_page_and_every_page_a_code():
    assert sorted(PAGES) == sorted(CODES)


@pytest.mark.parametrize("code", CODES)
def test_a_page_has_title_cause_and_cure(code):
    assert (ROOT / page(code)).is_file()
    head, _, rest = PAGES[code].partition("\n\n")
    cause, _, cure = rest.partition("\n## Cure\n\n")
    assert head == f"# {code}: {CODES[code]}"
    assert re.match(r"[\w`].*[.:]", cause)
    assert re.match(r"[\w`].*\.", cure)


def test_pages_without_a_tried_example_are_known():
    without = [code for code in PAGES if not (code.startswith(OF_REPOSITORIES) or BLOCKS[code] or has_story(code))]
    assert sorted(without) == sorted(WITHOUT_EXAMPLE)
    assert sorted(code for code in PAGES if len(BLOCKS[code]) == 1) == sorted(WITHOUT_CURED_EXAMPLE)


@pytest.mark.parametrize("code", [code for code in CODES if BLOCKS.get(code)])
def test_the_example_shows_the_code(code):
    assert code in codes(BLOCKS[code][0])


@pytest.mark.parametrize("code", [code for code in CODES if len(BLOCKS.get(code, ())) == 2])
def test_the_cure_removes_it_and_brings_no_new_error(code):
    before, after = BLOCKS[code]
    assert code not in codes(after)
    assert errors(after) - errors(before) == set()

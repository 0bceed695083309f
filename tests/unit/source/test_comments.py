"""Comments that speak to trainform, and the lines that they speak of."""

from __future__ import annotations

import time

import pytest

from trainform.source import load
from trainform.source.comments import comments


def found(text: str) -> list[tuple[str, int]]:
    (document,) = load(text, "job.yaml").documents
    return [(each.text, each.line) for each in comments(document.part)]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: 1  # trainform: x\n", 1),
        ("# trainform: x\na: 1\n", 2),
        ("# trainform: x\n\n# another\na: 1\n", 4),
        ("a: 1\n# trainform: x\n", 3),
        ("a: |\n  text\n# trainform: x\nb: 1\n", 4),
        ("#trainform:x\na: 1\n", 2),
        ("# first\n--- # trainform: x\na: 1\n", 2),
    ],
)
def test_a_comment_speaks_of_its_line_or_the_next_with_content(text, line):
    assert found(text) == [("x", line)]


@pytest.mark.parametrize(
    "text",
    [
        "a: |\n  # trainform: x\n",
        "a: >-\n  text\n\n  # trainform: x\nb: 1\n",
        "a: '# trainform: x'\n",
        'a: "b\n  # trainform: x"\n',
        "a: b#trainform:x\n",
        "a: 1  # say trainform: x\n",
    ],
)
def test_text_is_no_comment(text):
    assert found(text) == []


def test_a_crowd_of_comments_takes_no_more_time_than_its_length():
    start = time.process_time()
    assert len(found("# trainform: x\n" * 50_000 + "a: 'b'\n")) == 50_000
    assert time.process_time() - start < 5

"""Near names."""

from __future__ import annotations

import pytest

from trainform.diagnostics.suggest import did_you_mean, nearest


@pytest.mark.parametrize(
    ("word", "known", "expected"),
    [
        ("nmae", ["name", "value"], "name"),
        ("NumNodes", ["numNodes", "numProcPerNode"], "numNodes"),
        ("rendr", ["render", "validate"], "render"),
        ("xyz", ["name", "value"], ""),
        ("suspend", ["resourcesPerNode"], ""),
        ("name", [], ""),
    ],
)
def test_the_nearest_name(word, known, expected):
    assert nearest(word, known) == expected


def test_the_order_of_the_known_names_does_not_matter():
    assert nearest("jobx", ["joba", "jobb"]) == nearest("jobx", ["jobb", "joba"])


def test_a_question_only_where_a_name_is_near():
    assert did_you_mean("nmae", ["name"]) == 'did you mean "name"?'
    assert did_you_mean("xyz", ["name"]) == ""

"""The filter `dns` of templates."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from trainform.source.templates.load import render_template

NUMBERS = st.integers(-(2**63) + 1, 2**63 - 1) | st.floats(allow_nan=False) | st.sampled_from([1e-5, 1e5, 0.1, 0.01])


def part(value: object) -> str:
    rendered, problems = render_template("{{ env.value | dns }}", "a.yaml.j2", {"value": value})
    assert [problem.code for problem in problems] in ([], ["TF016"])
    return rendered.text


@given(NUMBERS, NUMBERS)
def test_two_numbers_are_two_names(one, other):
    assert (part(one) == part(other)) == (one == other)


@given(NUMBERS | st.text() | st.booleans() | st.none() | st.lists(st.integers(), max_size=2))
def test_every_value_is_a_part_of_a_label_or_refused(value):
    assert re.fullmatch("(?:[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)?", part(value))

"""What is told once although it was found often."""

from __future__ import annotations

import pytest

from trainform.diagnostics import Diagnostic, Position
from trainform.diagnostics.annotation import message
from trainform.diagnostics.diagnostic import Spot
from trainform.diagnostics.order import folded
from trainform.diagnostics.text import render_text

NAME = '"LR_{}" must consist of lowercase letters, digits and `-`'
SECRET = "nothing here provides Secret {}: the pods wait until it exists in namespace ml"


def problems(
    *messages: str, file: str = "jobs/sweep.yaml.j2", code: str = "TF301", column: int = 7
) -> list[Diagnostic]:
    place = Spot(file, Position(5, column))
    return [Diagnostic(code, "error", each, "", ("metadata", "name"), place) for each in messages]


@pytest.mark.parametrize("text", [NAME, SECRET])
@pytest.mark.parametrize("values", [("1", "2", "10"), ("alpha", "beta", "gamma"), ("1e-4", "1e-5", "x")])
def test_a_fault_of_a_template_is_told_once_with_the_number_of_others(text, values):
    (told,) = folded(problems(*(text.format(value) for value in values)))
    assert told.alike == 2
    assert folded([told]) == [told]
    assert "\n  note: and so in 2 more jobs of this template\n" in render_text([told], colour=False)
    assert message(told).endswith("\nand so in 2 more jobs of this template")


def test_one_more_job_is_no_plural():
    (told,) = folded(problems(NAME.format(1), NAME.format(2)))
    assert message(told).endswith("and so in 1 more job of this template")


@pytest.mark.parametrize(
    "found",
    [
        problems(NAME.format(1), NAME.format(2), file="jobs/llm.yaml"),
        [*problems(NAME.format(1)), *problems(NAME.format(2), column=9)],
        [*problems(NAME.format(1)), *problems(NAME.format(2), code="TF104")],
        problems(NAME.format(1), "must have at most 63 characters"),
        problems("is too long", "is too short for a name"),
    ],
)
def test_other_faults_are_told_apart(found):
    assert [each.alike for each in folded(found)] == [0, 0]

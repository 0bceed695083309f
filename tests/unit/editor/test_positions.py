"""Places in a text: the compiler counts code points from 1, an editor UTF-16 units from 0."""

import pytest

from trainform.diagnostics import Position
from trainform.editor.positions import Lines, Place16, Span

TEXT = "a: é\nname: 😀 x\r\nlast"


@pytest.mark.parametrize(
    ("at", "place"),
    [
        (Position(1, 1), Place16(0, 0)),
        (Position(1, 5), Place16(0, 4)),
        (Position(2, 7), Place16(1, 6)),
        (Position(2, 8), Place16(1, 8)),
        (Position(2, 10), Place16(1, 10)),
        (Position(3, 5), Place16(2, 4)),
    ],
)
def test_a_position_is_counted_both_ways(at, place):
    lines = Lines(TEXT)
    assert lines.to_editor(at) == place
    assert lines.from_editor(place) == at


def test_a_place_inside_a_character_is_its_start():
    assert Lines(TEXT).from_editor(Place16(1, 7)) == Position(2, 7)


@pytest.mark.parametrize("place", [Place16(0, 99), Place16(9, 0)])
def test_a_place_outside_of_the_text_is_moved_into_it(place):
    lines = Lines("ab\n")
    assert lines.offset(lines.from_editor(place)) in (2, 3)


def test_offsets_and_positions_are_inverse():
    lines = Lines(TEXT)
    assert [lines.offset(lines.position(offset)) for offset in range(14)] == [*range(14)]


def test_the_text_of_a_span():
    assert Lines(TEXT).part(Span(Position(2, 7), Position(2, 10))) == "😀 x"

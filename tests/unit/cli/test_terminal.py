"""Colour, and JSON for everyone."""

from __future__ import annotations

import io
import json

import pytest

from trainform.cli.streams import wants_colour
from trainform.cli.terminal import print_json


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "environment", "expected"),
    [
        (Terminal(), {}, True),
        (io.StringIO(), {}, False),
        (Terminal(), {"NO_COLOR": "1"}, False),
        (Terminal(), {"NO_COLOR": ""}, True),
        (Terminal(), {"TERM": "dumb"}, False),
    ],
)
def test_colour_only_where_a_terminal_shows_it(monkeypatch, stream, environment, expected):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert wants_colour(stream) is expected


def test_a_file_name_that_is_no_text_is_still_json(capfdbinary):
    print_json({"file": "jobs/w\udce9ird.yaml"})
    assert json.loads(capfdbinary.readouterr().out) == {"file": "jobs/w\udce9ird.yaml"}

"""What a person sees when something is wrong."""

from __future__ import annotations

import re
from dataclasses import dataclass
from textwrap import dedent

import pytest

from trainform.diagnostics import Diagnostic, Path, Position
from trainform.diagnostics.text import render_text


@dataclass(frozen=True)
class Source:
    """A place whose every path stands at one position."""

    text: str
    at: Position
    file: str = "jobs/llm.yaml"

    def position(self, path: Path) -> Position:
        return self.at

    def line(self, number: int) -> str:
        return self.text.splitlines()[number - 1]


@dataclass(frozen=True)
class NoLine:
    """A file whose contents are not at hand."""

    file: str

    def position(self, path: Path) -> Position:
        return Position(1, 1)

    def line(self, number: int) -> str:
        return ""


def told(diagnostic: Diagnostic) -> str:
    return render_text([diagnostic], colour=False)


def test_a_problem_shows_its_place_its_line_and_what_to_write_instead():
    place = Source("spec:\n  env:\n  - name: A\n    value: 1e3\n", Position(4, 12))
    problem = Diagnostic(
        "TF102",
        "error",
        "must be a string, not a number",
        'write "1e3"',
        ("spec", "trainer", "env", 0, "value"),
        place,
    )
    assert told(problem) == dedent(
        """\
        jobs/llm.yaml:4:12: error TF102 spec.trainer.env[0].value: must be a string, not a number
            |
          4 |     value: 1e3
            |            ^^^
          help: write "1e3"

        1 error in 1 file
        """
    )


def test_a_fault_of_a_rendered_object_names_the_object_and_the_plugin():
    problem = Diagnostic(
        "TF501",
        "error",
        "is too long",
        object="JobSet/llm",
        object_path=("metadata", "name"),
        plugin="acme",
    )
    assert told(problem) == dedent(
        """\
        trainform: error TF501: is too long
          note: in the rendered JobSet/llm metadata.name, found by plugin acme

        1 error
        """
    )


def test_problems_come_by_file_line_column_and_code():
    def problem(file: str, line: int, column: int, code: str) -> Diagnostic:
        return Diagnostic(code, "info", "m", place=NoLine(file), at=Position(line, column))

    shuffled = [
        problem("b.yaml", 1, 1, "TF101"),
        problem("a.yaml", 10, 1, "TF101"),
        problem("a.yaml", 9, 2, "TF102"),
        problem("a.yaml", 9, 2, "TF101"),
        problem("a.yaml", 9, 1, "TF999"),
    ]
    lines = [line for line in render_text(shuffled, colour=False).splitlines() if ": info" in line]
    assert [line.split(": m")[0] for line in lines] == [
        "a.yaml:9:1: info TF999",
        "a.yaml:9:2: info TF101",
        "a.yaml:9:2: info TF102",
        "a.yaml:10:1: info TF101",
        "b.yaml:1:1: info TF101",
    ]


def test_the_same_problem_found_twice_is_told_once():
    problem = Diagnostic("TF201", "error", "runtime not found", place=NoLine("a.yaml"))
    assert render_text([problem, problem], colour=False).count("TF201") == 1


@pytest.mark.parametrize(
    ("severities", "expected"),
    [
        (["error"], "1 error in 1 file"),
        (["error", "warning", "error"], "2 errors, 1 warning in 1 file"),
        (["info", "info"], "2 infos in 1 file"),
    ],
)
def test_the_last_line_counts(severities, expected):
    problems = [Diagnostic("TF1", each, str(n), place=NoLine("a")) for n, each in enumerate(severities)]
    assert render_text(problems, colour=False).splitlines()[-1] == expected


def test_nothing_wrong_is_nothing_said():
    assert render_text([], colour=True) == ""


@pytest.mark.parametrize(
    ("line", "column", "shown", "mark"),
    [
        ("a: b", 4, "a: b", "   ^"),
        ("a: some words  # why", 4, "a: some words  # why", "   ^^^^^^^^^^"),
        ('a: "x: y" # why', 4, 'a: "x: y" # why', "   ^^^^^^"),
        ("a: 'it''s'", 4, "a: 'it''s'", "   ^^^^^^^"),
        ("  nmae: x", 3, "  nmae: x", "  ^^^^"),
        ("a: {b: c, d: e}", 4, "a: {b: c, d: e}", "   ^"),
        ("a: {b: c, d: e}", 8, "a: {b: c, d: e}", "       ^"),
        ("image: repo/app:v1.2", 8, "image: repo/app:v1.2", "       ^^^^^^^^^^^^^"),
        ("\tkey: x", 1, "    key: x", "^^^^"),
        ("\tkey: x", 2, "    key: x", "    ^^^"),
        ("名前: 値", 5, "名前: 値", "      ^^"),
        ("e\u0301: x", 5, "e\u0301: x", "   ^"),
        ("a: \x1b[2Jx", 4, "a: \\x1b[2Jx", "   ^^^^^^^^"),
        ("a:", 3, "a:", "  ^"),
        ("a:", 99, "a:", "  ^"),
    ],
)
def test_the_mark_stands_under_the_element(line, column, shown, mark):
    problem = Diagnostic("TF1", "error", "m", place=Source(line, Position(1, column)))
    lines = told(problem).splitlines()
    assert lines[2] == f"  1 | {shown}"
    assert lines[3] == f"    | {mark}"


def test_a_long_line_is_cut_around_the_element():
    line = '{"a": "' + "x" * 5000 + '", "env": 7, "b": "' + "y" * 5000 + '"}'
    problem = Diagnostic("TF1", "error", "m", place=Source(line, Position(1, line.index("7") + 1)))
    shown, mark = told(problem).splitlines()[2:4]
    assert len(shown) < 130
    assert shown[mark.index("^")] == "7"
    assert shown.count("…") == 2


def test_a_message_cannot_command_the_terminal():
    text = told(Diagnostic("TF1", "error", "bad \x1b]0;owned\x07 name", "line\none"))
    assert "\x1b" not in text
    assert "\x07" not in text


def test_colour_adds_escapes_and_changes_no_text():
    problem = Diagnostic("TF1", "warning", "m", "h", ("a",), Source("a: b", Position(1, 4)))
    coloured = render_text([problem], colour=True)
    assert "\x1b[33m\x1b[1mwarning\x1b[0m" in coloured
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == told(problem)


def runtime_fault(code: str = "TF530", message: str = "no such volume", *, job: str = "", field: str = "spec"):
    place = Source("spec: {}\n", Position(1, 7), "runtimes/torch.yaml")
    found = Diagnostic(code, "error", message, path=("spec",), place=place)
    return found._replace(object=f"JobSet/{job}", object_path=(field,)) if job else found


def test_a_fault_of_a_runtime_is_told_once_for_all_its_jobs():
    faults = [runtime_fault(), *(runtime_fault(job=name) for name in ("a", "b", "c"))]
    assert render_text(faults, colour=False) == dedent(
        """\
        runtimes/torch.yaml:1:7: error TF530 spec: no such volume
            |
          1 | spec: {}
            |       ^
          note: in the rendered JobSet/a (and 2 more) spec

        1 error in 1 file
        """
    )


def test_a_broken_runtime_is_one_error_of_a_job():
    faults = [runtime_fault("TF206", f"runtime 'r' has an error at {i}", job="a", field=i) for i in "123"]
    shown = render_text(faults, colour=False)
    assert "error TF206 spec: runtime 'r' has an error at 1, and 2 more errors\n" in shown
    assert shown.endswith("\n\n1 error in 1 file\n")


def test_two_faults_at_one_place_are_both_told():
    faults = [runtime_fault(message="a"), runtime_fault(message="b"), runtime_fault("TF526", "a")]
    assert render_text(faults, colour=False).endswith("3 errors in 1 file\n")


def test_an_object_that_shows_another_side_of_an_error_adds_nothing():
    faults = [runtime_fault("TF102", "must be a string"), runtime_fault("TF525", "is missing", job="a")]
    shown = render_text(faults, colour=False)
    assert "TF525" not in shown
    assert shown.endswith("\n\n1 error in 1 file\n")


def test_what_someone_wrote_at_great_length_is_cut():
    place = Source(f"name: {'x' * 100_000}\n", Position(1, 7))
    problem = Diagnostic("TF301", "error", "x" * 100_000, "y" * 100_000, ("z" * 100_000,), place, object="x" * 100_000)
    assert max(map(len, told(problem).splitlines())) < 2200

"""What a terminal shows during a long run, and how much a command prints."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from support.repositories import job, runtime
from trainform.cli.progress import Meter, shown
from trainform.workspace.progress import advance


class Terminal(io.TextIOWrapper):
    """Remembers what is drawn on it."""

    def __init__(self) -> None:
        self.drawn = io.BytesIO()
        super().__init__(self.drawn)

    @property
    def lines(self) -> list[str]:
        drawn = self.drawn.getvalue().decode()
        return [line.removesuffix("\x1b[K") for line in drawn.split("\r")[1:]]


def clock(*times: float):
    return iter(times).__next__


def test_a_line_says_what_is_done_how_fast_and_what_is_left():
    terminal = Terminal()
    with shown(terminal, clock(0, 0.5, 2, 4)):
        advance(1_000, 10_000)
        advance(3_000, 10_000)
        advance(10_000, 10_000)
    assert terminal.lines == [
        "3,000 of 10,000 job files, 1,500/s, 5 s left",
        "10,000 of 10,000 job files, 2,500/s",
        "",
    ]


def test_a_short_run_draws_nothing():
    terminal = Terminal()
    with shown(terminal, clock(0, 0.9)):
        advance(100, 100)
    assert terminal.lines == []


def draw_and_fail() -> None:
    advance(1, 2)
    raise OSError("disk")


def test_the_line_is_gone_after_an_error():
    terminal = Terminal()
    with pytest.raises(OSError, match="disk"), shown(terminal, clock(0, 2)):
        draw_and_fail()
    assert terminal.lines[-1] == ""


def test_nobody_needs_to_listen():
    advance(1, 2)


@pytest.fixture
def many(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three chunks of jobs, on a machine where everything takes longer than a second."""
    (root / "runtimes").mkdir()
    (root / "runtimes/torch.yaml").write_text(runtime())
    for index in range(6):
        (root / f"jobs/job-{index}.yaml").write_text(job(f"job-{index}"))
    monkeypatch.setattr("trainform.workspace.parallel.SMALLEST", 1)
    monkeypatch.setattr("trainform.workspace.parallel.LARGEST", 3)
    monkeypatch.setattr("trainform.cli.progress.PATIENCE", 0)
    monkeypatch.delenv("CI", raising=False)
    return root


@pytest.mark.parametrize("command", ["render", "validate", "check"])
def test_a_terminal_shows_progress(many, trainform, monkeypatch, command):
    monkeypatch.setattr("trainform.cli.streams.is_terminal", lambda _stream: True)
    ran = trainform(command, "--workers", "1")
    assert " job files, " in ran.err
    assert ran.err.endswith("\r\x1b[K") or command == "validate"


@pytest.mark.parametrize(
    ("terminal", "variables", "options"), [(False, {}, ()), (True, {"CI": "true"}, ()), (True, {}, ("--quiet",))]
)
def test_logs_and_the_quiet_show_none(many, trainform, monkeypatch, terminal, variables, options):
    monkeypatch.setattr("trainform.cli.streams.is_terminal", lambda _stream: terminal)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert "job files" not in trainform("render", "--workers", "1", *options).err


def test_quiet_leaves_out_what_was_written(many, trainform):
    assert trainform("render", "--quiet").out == ""
    assert trainform("render").out.endswith("unchanged\n")


def test_quiet_still_tells_problems(many, trainform):
    (many / "jobs/job-1.yaml").write_text("{")
    ran = trainform("render", "-q")
    assert (ran.code, ran.out) == (2, "")
    assert "jobs/job-1.yaml:1" in ran.err


def test_verbose_counts_nothing(many, trainform):
    for index in range(6):
        text = job(f"job-{index}").replace("runtimeRef:", "suspend: false\n  nodeSelector: {}\n  runtimeRef:")
        (many / f"jobs/job-{index}.yaml").write_text(text)
    brief, whole = (trainform("render", "--no-cache", *options).err for options in ((), ("--verbose",)))
    assert brief.count("nodeSelector: unknown field") <= whole.count("nodeSelector: unknown field") == 6
    assert "`trainform validate` shows them all" not in whole


def test_quiet_and_verbose_exclude_each_other(trainform):
    ran = trainform("render", "-q", "-v")
    assert ran.code == 2
    assert "--quiet and --verbose exclude each other" in ran.err


def test_a_meter_needs_no_rate_before_something_is_done():
    terminal = Terminal()
    Meter(terminal, clock(0, 5)).advance(0, 10)
    assert terminal.lines == []

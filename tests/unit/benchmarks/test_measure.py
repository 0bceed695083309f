"""What a process takes, and what counts of several rounds."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.measure import REFERENCE, Bench, MeasuredProcessFailed, Taken, best, in_turns, one_round


@pytest.fixture
def bench(tmp_path):
    return Bench(Path(sys.executable), tmp_path)


def python(bench, code, **options):
    return bench.run([str(bench.python), "-c", code], bench.scratch, **options)


def test_a_child_counts_as_its_parent(bench):
    work = "import time; x = bytearray(60_000_000)\nwhile time.process_time() < 0.2: pass"
    parent = python(bench, f"import subprocess, sys; subprocess.run([sys.executable, '-c', {work!r}])")
    assert parent.cpu > 0.2
    assert parent.memory > 60_000_000


def test_memory_of_the_one_who_measures_does_not_count(bench):
    held = bytearray(80_000_000)
    assert python(bench, "pass").memory < len(held)


def test_output_and_input_are_files(bench, tmp_path):
    (tmp_path / "in").write_text("what is read")
    python(bench, "print(input())", stdin=tmp_path / "in", stdout=tmp_path / "out")
    assert (tmp_path / "out").read_text() == "what is read\n"


def test_a_process_that_fails_says_why(bench):
    with pytest.raises(MeasuredProcessFailed, match=r"(?s)exit code 3.*no such job"):
        python(bench, "import sys; print('no such job', file=sys.stderr); sys.exit(3)")


def test_an_exit_code_can_be_right(bench):
    assert python(bench, "raise SystemExit(1)", codes=(1,)).wall > 0


def test_all_take_turns():
    order = []

    def step(name):
        def run():
            order.append(name)
            return Taken(1, 1)

        return run

    in_turns(2, {name: step(name) for name in "ab"})
    assert order == ["a", "b", "a", "b"]


def test_the_best_time_and_the_most_memory_count():
    assert best([{"a": Taken(2, 1, 5)}, {"a": Taken(1, 3, 7)}]) == {"a": Taken(1, 1, 7)}


def test_a_step_is_measured_against_the_loops_beside_it():
    """A machine that is half as fast during the second step changes no ratio."""
    loops = iter([Taken(0.1, 0.1), Taken(0.1, 0.1), Taken(0.3, 0.3)])
    steps = {REFERENCE: lambda: next(loops), "a": lambda: Taken(1, 1), "b": lambda: Taken(2, 2)}
    found = one_round(steps, "")
    assert [found[name].loops for name in "ab"] == pytest.approx([10, 10])
    assert found[REFERENCE].cpu == 0.1


def test_of_several_rounds_the_best_ratio_to_the_loop_counts():
    assert best([{"a": Taken(1, 1, loops=8)}, {"a": Taken(2, 2, loops=6)}])["a"] == Taken(1, 1, loops=6)

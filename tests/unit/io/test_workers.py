"""Worker processes: results come in the order of the tasks, errors as they were raised."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from types import ModuleType

import pytest

from trainform.io.workers import WorkerDied, in_new_interpreter, in_processes


def all_results(tasks, work, workers):
    return list(in_processes(work, tasks, workers))


@pytest.mark.parametrize("workers", [1, 2, 3, 10])
def test_results_come_in_the_order_of_the_tasks(workers):
    assert all_results(range(7), lambda task: task * task, workers) == [0, 1, 4, 9, 16, 25, 36]


def test_no_task_is_no_work():
    assert all_results([], lambda task: task, 2) == []


def test_work_is_done_in_other_processes_which_see_what_was_there_before():
    here = {"process": os.getpid()}
    found = all_results(range(4), lambda task: (os.getpid(), here["process"]), 2)
    assert 1 <= len({process for process, _ in found}) <= 2
    assert {parent for _, parent in found} == {os.getpid()}
    assert os.getpid() not in {process for process, _ in found}


def test_a_result_may_be_larger_than_a_pipe():
    assert [len(each) for each in all_results(range(6), lambda task: b"x" * 300_000, 2)] == [300_000] * 6


def test_what_a_worker_raises_is_raised_here():
    def work(task):
        if task == 2:
            raise ValueError("two")
        return task

    with pytest.raises(ValueError, match="two"):
        all_results(range(4), work, 2)


def test_a_worker_that_is_killed_is_told_of():
    def work(task):
        if task == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return task

    with pytest.raises(WorkerDied, match="--workers 1"):
        all_results(range(4), work, 2)


def test_workers_end_when_their_results_are_not_wanted_any_more(tmp_path):
    def work(task):
        (tmp_path / str(task)).write_text(str(os.getpid()))
        return b"x" * 300_000

    found = in_processes(work, range(100), 2)
    next(found)
    found.close()
    for process in {int(file.read_text()) for file in tmp_path.iterdir()}:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


def test_new_interpreters_do_the_same_where_forking_is_not_safe(monkeypatch):
    monkeypatch.setattr("trainform.io.workers.START_METHOD", "spawn")
    assert all_results(["a", "bb", "ccc"], len, 2) == [1, 2, 3]


def test_workers_end_when_their_parent_is_killed(tmp_path):
    """They would wait for work for ever, and keep the repository locked."""
    code = (
        "import os, sys, time\nfrom trainform.io.workers import in_processes\n"
        "def work(task):\n    os.write(1, b'%d\\n' % os.getpid())\n    time.sleep(0.2)\n"
        "list(in_processes(work, range(1000), 2))\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        workers = {int(parent.stdout.readline()) for _ in range(20)}
        parent.kill()
        parent.communicate(timeout=20)  # ends when the last of them, which write to the same pipe, has ended
    assert len(workers) == 2


def test_a_new_interpreter_has_loaded_nothing_and_returns_what_it_found(monkeypatch):
    monkeypatch.setitem(sys.modules, "loaded_here", ModuleType("loaded_here"))
    process, modules = in_new_interpreter(eval, "__import__('os').getpid(), set(__import__('sys').modules)")
    assert process != os.getpid()
    assert "loaded_here" not in modules


@pytest.mark.parametrize(
    ("death", "code", "told"),
    [
        ("__import__('signal').raise_signal(9)", -signal.SIGKILL, "was killed by signal 9"),
        ("__import__('os')._exit(3)", 3, "ended with exit code 3"),
    ],
    ids=["kill", "exit"],
)
def test_how_a_new_interpreter_died_is_told(death, code, told):
    with pytest.raises(WorkerDied, match=told) as caught:
        in_new_interpreter(eval, death)
    assert caught.value.code == code


def test_a_new_interpreter_imports_nothing_from_the_current_folder(tmp_path, monkeypatch):
    (tmp_path / "signal.py").write_text("raise SystemExit('a stranger was imported')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [each for each in sys.path if each])
    monkeypatch.setenv("PYTHONSAFEPATH", "")
    assert in_new_interpreter(len, "ab") == 2

"""Forked workers: answers come in the order of the tasks, errors as they were raised."""

from __future__ import annotations

import os
import signal

import pytest

from trainform.io.workers import WorkerDied, answers


def all_answers(tasks, work, workers):
    with answers(tasks, work, workers) as found:
        return list(found)


@pytest.mark.parametrize("workers", [1, 2, 3, 10])
def test_answers_come_in_the_order_of_the_tasks(workers):
    assert all_answers(range(7), lambda task: task * task, workers) == [0, 1, 4, 9, 16, 25, 36]


def test_no_task_is_no_work():
    assert all_answers([], lambda task: task, 2) == []


def test_work_is_done_in_other_processes_which_see_what_was_there_before():
    here = {"process": os.getpid()}
    found = all_answers(range(4), lambda task: (os.getpid(), here["process"]), 2)
    assert len({process for process, _ in found}) == 2
    assert {parent for _, parent in found} == {os.getpid()}
    assert os.getpid() not in {process for process, _ in found}


def test_an_answer_may_be_larger_than_a_pipe():
    assert [len(each) for each in all_answers(range(6), lambda task: b"x" * 300_000, 2)] == [300_000] * 6


def test_what_a_worker_raises_is_raised_here():
    def work(task):
        if task == 2:
            raise ValueError("two")
        return task

    with pytest.raises(ValueError, match="two"):
        all_answers(range(4), work, 2)


def test_a_worker_that_is_killed_is_told_of():
    def work(task):
        if task == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return task

    with pytest.raises(WorkerDied, match="--workers 1"):
        all_answers(range(4), work, 2)


def test_workers_end_when_their_answers_are_not_wanted_any_more(tmp_path):
    def work(task):
        (tmp_path / str(task)).write_text(str(os.getpid()))
        return b"x" * 300_000

    with answers(range(100), work, 2) as found:
        next(found)
    texts = {file.read_text() for file in tmp_path.iterdir()} - {""}  # that of a worker that was stopped as it wrote
    for process in map(int, texts):
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)

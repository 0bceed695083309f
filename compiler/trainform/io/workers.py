"""Work on several processors: forked processes that share what is in memory, answers in the order of the tasks.

Forking copies nothing until it is written to, so that each worker has the whole repository as the parent had
read it. Where a platform cannot fork, everything is done in this process.
"""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO, TypeVar

Task = TypeVar("Task")
Answer = TypeVar("Answer")


class WorkerDied(Exception):
    """A worker ended without an answer: killed from outside, for want of memory for example."""


def processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def can_fork() -> bool:
    return hasattr(os, "fork")


@contextmanager
def answers(tasks: Sequence[Task], work: Callable[[Task], Answer], workers: int) -> Iterator[Iterator[Answer]]:
    """The answers of `work` to each task, in the order of the tasks, while other workers go on with theirs.

    What a worker raises is raised here. When the context is left, workers that are still at work are stopped.
    """
    crew = [_start(tasks[at::workers], work) for at in range(min(workers, len(tasks)))]
    try:
        yield (_receive(crew[at % len(crew)][1]) for at in range(len(tasks)))
    finally:
        for process, pipe in crew:
            pipe.close()
            _end(process)


def _start(tasks: Sequence[Task], work: Callable[[Task], Any]) -> tuple[int, BinaryIO]:
    """A worker for some tasks: its process, and the pipe that its answers come through."""
    reading, writing = os.pipe()
    process = os.fork()
    if process:
        os.close(writing)
        return process, open(reading, "rb")
    try:
        os.close(reading)
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # the parent says what there is to say
        with open(writing, "wb") as pipe:
            for task in tasks:
                _answer(task, work, pipe)
    except BrokenPipeError:
        pass  # nobody wants the rest
    finally:
        os._exit(0)  # never back into the parent's code, nor its clean-up


def _answer(task: Task, work: Callable[[Task], Any], pipe: BinaryIO) -> None:
    try:
        answer = (True, work(task))
    except Exception as error:
        answer = (False, error)
    pickle.dump(answer, pipe, pickle.HIGHEST_PROTOCOL)
    pipe.flush()


def _receive(pipe: BinaryIO) -> Any:
    try:
        is_good, answer = pickle.load(pipe)
    except (EOFError, pickle.UnpicklingError) as error:
        raise WorkerDied("a worker process was killed, perhaps out of memory: try --workers 1") from error
    if not is_good:
        raise answer
    return answer


def _end(process: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGTERM)
    os.waitpid(process, 0)

"""Run tasks in several processes, with results in task order. On Linux, workers are forked and share the parent's
memory; elsewhere forking is unsafe (macOS) or missing (Windows), so new interpreters get a copy of the work."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator, Sequence
from typing import Any, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


class WorkerDied(Exception):
    """A worker was killed before it returned a result, for example because memory ran out."""


def processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


START_METHOD = "fork" if sys.platform == "linux" else "spawn"
"""How workers are started. With `spawn`, the work, tasks and results must be picklable."""


def in_processes(work: Callable[[Task], Result], tasks: Sequence[Task], workers: int) -> Generator[Result]:
    """The results of `work` for each task, in order, from up to `workers` processes. Raises what `work` raises, and
    WorkerDied if a worker is killed. If iteration stops early, tasks that have not begun are canceled."""
    if workers < 2 or len(tasks) < 2:
        yield from map(work, tasks)
        return
    from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor
    from multiprocessing import get_context

    if START_METHOD == "spawn":
        os.environ["PYTHONSAFEPATH"] = "1"  # `python -c` imports from the current folder, which may be a stranger's
    pool = ProcessPoolExecutor(
        min(workers, len(tasks)), mp_context=get_context(START_METHOD), initializer=_start, initargs=(work,)
    )
    try:
        yield from pool.map(_call, tasks)
    except BrokenProcessPool as error:
        raise WorkerDied("a worker process was killed, perhaps because memory ran out: try --workers 1") from error
    finally:
        pool.shutdown(cancel_futures=True)


_work: Callable[[Any], Any]
"""What this worker does: set once, when it starts."""


def _start(work: Callable[[Any], Any]) -> None:
    import signal
    import threading

    global _work
    _work = work
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the parent prints the message
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Exit with the parent: otherwise a worker would wait for tasks forever and keep the repository locked."""
    from multiprocessing import parent_process

    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _call(task: Any) -> Any:
    return _work(task)

"""Work on several processors, with results in the order of the tasks.

On Linux workers are forked: they share what the parent has read, and copy nothing until it is written to. Elsewhere
forking is not safe (macOS) or not there (Windows): new interpreters are started, which get a copy of the work.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator, Sequence
from typing import Any, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


class WorkerDied(Exception):
    """A worker ended without a result: killed from outside, for example because memory ran out."""


def processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


START_METHOD = "fork" if sys.platform == "linux" else "spawn"
"""How workers are started. With `spawn`, the work, tasks and results must be things that can be pickled."""


def in_processes(work: Callable[[Task], Result], tasks: Sequence[Task], workers: int) -> Generator[Result]:
    """The results of `work` for each task, in the order of the tasks, from up to `workers` processes.

    What `work` raises is raised here. Raises WorkerDied where a worker was killed. Tasks that have not begun when the
    iteration is given up are never done.
    """
    if workers < 2 or len(tasks) < 2:
        yield from map(work, tasks)
        return
    from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor
    from multiprocessing import get_context

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
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the parent says what there is to say
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A worker whose parent was killed would wait for tasks for ever, and keep the repository locked."""
    from multiprocessing import parent_process

    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _call(task: Any) -> Any:
    return _work(task)

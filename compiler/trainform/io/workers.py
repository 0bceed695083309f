"""Run tasks in several processes, with results in task order. On Linux, workers are forked and share the parent's
memory; elsewhere forking is unsafe (macOS) or missing (Windows), so new interpreters get a copy of the work."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


class WorkerDied(Exception):
    """A worker was killed before it returned a result, for example because memory ran out. `code` is its exit code, or
    less than 0 for a signal; 0 if it is not known."""

    def __init__(self, message: str, code: int = 0) -> None:
        super().__init__(message)
        self.code = code


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
        _keep_out_of_the_current_folder()
    pool = ProcessPoolExecutor(
        min(workers, len(tasks)), mp_context=get_context(START_METHOD), initializer=_start, initargs=(work,)
    )
    try:
        yield from pool.map(_call, tasks)
    except BrokenProcessPool as error:
        raise WorkerDied("a worker process was killed, perhaps because memory ran out: try --workers 1") from error
    finally:
        pool.shutdown(cancel_futures=True)


def in_new_interpreter(work: Callable[..., Result], *arguments: Any) -> Result:
    """What `work` returns, called in an interpreter that has loaded nothing yet: code and packages may have changed.
    Both must be picklable. An interrupt ends the work first. Raises WorkerDied."""
    from multiprocessing import get_context

    _keep_out_of_the_current_folder()
    context = get_context("spawn")
    reading, writing = context.Pipe(duplex=False)
    process = context.Process(target=_answer, args=(writing, work, arguments))
    with reading:
        try:
            with _interrupts_held():
                process.start()
                writing.close()
            result: Result = reading.recv()
        except EOFError:
            process.join()
            raise WorkerDied(_how(process.exitcode or 0), process.exitcode or 0) from None
        except KeyboardInterrupt:
            _interrupt(process.pid)
            process.join()
            raise
    process.join()
    return result


def _answer(writing: Any, work: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    """What the new interpreter does. Ctrl-C reaches the one that waits for it, which passes it on: once, so that it
    does not hit the clean-up after itself."""
    import signal
    import threading

    threading.Thread(target=_end_with_parent, daemon=True).start()
    if hasattr(os, "setpgrp"):
        os.setpgrp()
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # it may write to the terminal all the same
    with suppress(KeyboardInterrupt):
        if hasattr(signal, "pthread_sigmask"):
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
        result = work(*arguments)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        writing.send(result)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Keep Ctrl-C for later, also in a process that is started in here, until it is ready."""
    import signal

    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _interrupt(process: int | None) -> None:
    import signal

    if process and hasattr(os, "setpgrp"):  # elsewhere, Ctrl-C reaches both
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGINT)


def _how(code: int) -> str:
    return f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"


def _keep_out_of_the_current_folder() -> None:
    """A new interpreter would import from it, and it may be a stranger's."""
    os.environ["PYTHONSAFEPATH"] = "1"


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

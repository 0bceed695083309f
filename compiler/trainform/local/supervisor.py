"""Starts the pods of a job in order, and does what its policies say when they end."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from trainform.local.containers import Output, Stopping, run_container, until_ready
from trainform.local.devices import Devices
from trainform.local.folders import RunFolder
from trainform.local.inside.guard import PR_SET_CHILD_SUBREAPER, descendants, kill_descendants
from trainform.local.plan.model import LocalContainer, LocalJob, LocalPod, LocalRun
from trainform.local.plan.policies import EndedJob, Exit, JobFailures, after_job, is_job_done
from trainform.local.sandbox import Networks, PodSandbox, RunSandbox

RESTART_SECONDS = 1.0
"""Between a failure and the next try. A cluster waits ten seconds, then twice as long each time."""

TIMED_OUT = 124
"""Exit code if a deadline passed, as that of the command `timeout`."""


SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE)
"""What ends a run early. SIGPIPE says that nobody reads the output any more."""


@contextlib.contextmanager
def signals_restored() -> Iterator[None]:
    """Handle signals as before once the event loop is closed: asyncio leaves their defaults, and SIGPIPE's ends the
    process of whoever writes to a closed connection later."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            if handler is not None:
                signal.signal(number, handler)


class _PodStopped(Exception):
    """A policy ends the pod, and perhaps its Job."""


@dataclass(slots=True)
class Supervisor:
    """Runs a job. `plan` gives each attempt's pods, `folder` and `devices` are what they use."""

    plan: Callable[[int], LocalRun]
    sandbox: RunSandbox
    folder: RunFolder
    devices: Devices
    output: Output
    stopping: Stopping = field(default_factory=Stopping)
    code: int = 1
    """Of the container that failed last."""

    async def run(self, timeout: float | None) -> int:
        """Run until the job has ended; the job's exit code. `timeout` is in seconds."""
        running = asyncio.ensure_future(self._attempts())
        stopped = self._stop_on_signals(running)
        try:
            return await asyncio.wait_for(running, timeout)
        except TimeoutError:
            self.output.event(f"stopped: it ran longer than {timeout:g} seconds")
            return TIMED_OUT
        except asyncio.CancelledError:
            return 128 + stopped[0] if stopped else 1

    def _stop_on_signals(self, running: asyncio.Future[int]) -> list[int]:
        """The first signal is passed on to every container, the second kills them; the signals that came."""
        came: list[int] = []

        def stop(number: signal.Signals) -> None:
            came.append(number)
            if len(came) > 1:
                self.stopping.at_once.set()
                return
            self.output.event(f"{number.name}: stopping the pods; once more kills them")
            self.stopping.signal = signal.SIGTERM if number == signal.SIGPIPE else number
            running.cancel()

        for number in SIGNALS:
            asyncio.get_running_loop().add_signal_handler(number, stop, number)
        return came

    async def _attempts(self) -> int:
        counted = attempt = 0
        while True:
            run = self.plan(attempt)
            networks = self.sandbox.networks(run)
            try:
                end = await _Attempt(self, run, networks).run(counted)
            finally:
                networks.close()
            if end == "succeed":
                self.output.event("the job succeeded")
                return 0
            if end == "fail":
                self.output.event(f"the job failed: exit code {self.code}")
                return self.code
            counted += end == "restart"
            attempt += 1
            self.output.event(f"restarting all pods (attempt {attempt + 1})")
            await asyncio.sleep(RESTART_SECONDS)


@dataclass(slots=True)
class _Attempt:
    """One attempt at a job."""

    supervisor: Supervisor
    plan: LocalRun
    networks: Networks
    ready: dict[str, asyncio.Event] = field(default_factory=dict)
    complete: dict[str, asyncio.Event] = field(default_factory=dict)
    ready_pods: set[str] = field(default_factory=set)

    @property
    def output(self) -> Output:
        return self.supervisor.output

    async def run(self, restarts: int) -> str:
        """What is to happen now: `succeed`, `fail`, or a kind of restart."""
        for step in self.plan.steps:
            self.ready[step.name], self.complete[step.name] = asyncio.Event(), asyncio.Event()
            if not any(job.pods for job in step.jobs):
                self.ready[step.name].set()
        ended = {job.name: EndedJob(job.step, "running") for step in self.plan.steps for job in step.jobs}
        running = {_task(self._job(job)): job for step in self.plan.steps for job in step.jobs}
        async with _cancelled_at_the_end(running):
            while (what := after_job(self.plan.spec, [*ended.values()], restarts)) == "go on" and running:
                done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    job = running.pop(task)
                    ended[job.name] = task.result()
                    self._note(job.step, ended)
            return "fail" if what == "go on" else what  # a policy that no Job of this JobSet can fulfil

    def _note(self, step: str, ended: dict[str, EndedJob]) -> None:
        """A step whose Jobs are all complete lets others start."""
        if all(each.outcome == "complete" for each in ended.values() if each.step == step):
            self.complete[step].set()

    async def _job(self, job: LocalJob) -> EndedJob:
        """Run a Job once the steps before it are so far."""
        step = next(each for each in self.plan.steps if each.name == job.step)
        for name, status in step.waits_for:
            await (self.complete if status == "Complete" else self.ready)[name].wait()
        failures = JobFailures(job.spec)
        try:
            async with asyncio.timeout(job.deadline):
                await self._indexes(job, failures)
        except TimeoutError:
            failures.deadline_passed()
            self.supervisor.code = TIMED_OUT
        if failures.reason:
            self.output.event(f"{_short(job.name, self.plan)} failed: {failures.message} ({failures.reason})")
            return EndedJob(job.step, "failed", failures.reason, failures.message)
        return EndedJob(job.step, "complete")

    async def _indexes(self, job: LocalJob, failures: JobFailures) -> None:
        """Run the pods of all completion indexes, `parallelism` at a time."""
        places = asyncio.Semaphore(job.parallelism)
        running = {_task(self._index(index, pod, failures, places)): index for index, pod in enumerate(job.pods)}
        succeeded: set[int] = set()
        async with _cancelled_at_the_end(running):
            while running and not failures.reason and not is_job_done(job.spec, succeeded, len(job.pods)):
                done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    index = running.pop(task)
                    with contextlib.suppress(_PodStopped):
                        task.result()
                        succeeded.add(index)
        if not is_job_done(job.spec, succeeded, len(job.pods)):
            failures.all_ended()

    async def _index(self, index: int, pod: LocalPod, failures: JobFailures, places: asyncio.Semaphore) -> None:
        """Run pods of one index until one succeeds. Raises _PodStopped if the Job gives up on it."""
        async with places:
            while True:
                devices = self.supervisor.devices.take(pod.gpus)
                try:
                    exits = await self._pod(index, pod, failures, self.supervisor.devices.variables(devices))
                finally:
                    self.supervisor.devices.give_back(devices)
                if not exits:
                    self._is_ready(pod)
                    return
                await self._try_again(index, exits, failures)
                self.output.event(f"{_short(pod.name, self.plan)}: a new pod takes its place")

    async def _try_again(self, index: int, exits: list[Exit], failures: JobFailures) -> None:
        """Returns after a pause if there is to be another try. Raises _PodStopped if not."""
        self.supervisor.code = exits[0].code
        if failures.after(index, exits) != "retry":
            raise _PodStopped
        await asyncio.sleep(RESTART_SECONDS)

    async def _pod(self, index: int, pod: LocalPod, failures: JobFailures, given: Mapping[str, str]) -> list[Exit]:
        """Run one pod; the failures of its containers, none if it succeeded."""
        made = PodSandbox.make(self.supervisor.sandbox, self.networks, self.plan, pod, self.supervisor.folder, given)

        def until_success(container: LocalContainer) -> Coroutine[Any, Any, Exit]:
            return self._container(index, made, container, failures)

        beside: dict[asyncio.Task[Any], str] = {}
        async with _cancelled_at_the_end(beside):
            for container in pod.of_kind("init", "sidecar"):
                if container.kind == "sidecar":
                    beside[_task(self._sidecar(made, container))] = container.name
                    await until_ready(made, container)
                elif (ended := await until_success(container)).code:
                    return [ended]
            beside[_task(self._watch_readiness(made))] = "readiness"
            mains = {_task(until_success(container)): container.name for container in pod.of_kind("main")}
            async with _cancelled_at_the_end(mains):
                return [ended for ended in await asyncio.gather(*mains) if ended.code]

    async def _container(self, index: int, pod: PodSandbox, container: LocalContainer, failures: JobFailures) -> Exit:
        """Run a container; again after a failure if the pod restarts it."""
        while True:
            code = await run_container(pod, container, self.output, self.supervisor.stopping)
            if code == 0:
                return Exit(container.name, 0)
            self.output.event(f"{_short(pod.pod.name, self.plan)}: container {container.name} exited with {code}")
            ended = Exit(container.name, code)
            if not pod.pod.restarts_in_place:
                return ended
            await self._try_again(index, [ended], failures)

    async def _sidecar(self, pod: PodSandbox, container: LocalContainer) -> None:
        """Restarted whenever it ends."""
        while True:
            await run_container(pod, container, self.output, self.supervisor.stopping)
            await asyncio.sleep(RESTART_SECONDS)

    async def _watch_readiness(self, pod: PodSandbox) -> None:
        for container in pod.pod.of_kind("main"):
            await until_ready(pod, container)
        self._is_ready(pod.pod)

    def _is_ready(self, pod: LocalPod) -> None:
        """A step is ready when all of its pods are, or have succeeded."""
        self.ready_pods.add(pod.name)
        for step in self.plan.steps:
            if all(each.name in self.ready_pods for job in step.jobs for each in job.pods):
                self.ready[step.name].set()


def _short(name: str, run: LocalRun) -> str:
    return name.removeprefix(f"{run.name}-")


def _task(coroutine: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
    return asyncio.ensure_future(coroutine)


@contextlib.asynccontextmanager
async def _cancelled_at_the_end(tasks: Mapping[asyncio.Task[Any], Any]) -> AsyncIterator[None]:
    """Cancels what still runs and waits for its end, however the block ends, and even if cancelled meanwhile."""
    try:
        yield
    finally:
        left, cancelled = [*tasks], False
        for task in left:
            task.cancel()
        while any(not task.done() for task in left):
            try:
                await asyncio.wait(left)
            except asyncio.CancelledError:
                cancelled = True
        if cancelled:
            raise asyncio.CancelledError


@contextlib.contextmanager
def no_process_left() -> Iterator[None]:
    """Makes this process the parent of whatever its children leave, and kills that at the end. Linux only: elsewhere
    each guard ends its own process group."""
    if sys.platform != "linux":
        yield
        return
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    before = frozenset(descendants(os.getpid()))
    try:
        yield
    finally:
        while left := kill_descendants(before):
            for process in left:
                with contextlib.suppress(ChildProcessError):  # the child of another one that is left
                    os.waitpid(process, os.WNOHANG)
            time.sleep(0.01)
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)

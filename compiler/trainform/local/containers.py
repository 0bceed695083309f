"""One container: a process, its output, its end."""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import re
import signal
import sys
from dataclasses import dataclass, field
from typing import Protocol

from trainform.local.inside.guard import KILL_ALL
from trainform.local.plan.model import LocalContainer
from trainform.local.sandbox import PodSandbox

_CHUNK = 1 << 16
_LINE_END = re.compile(r"\r\n|\n|\r")
_LONGEST = 1 << 20
"""Most characters of a line; a longer one is told in pieces."""

KILL_SECONDS = 5
"""How long a killed container may take to be gone."""


class Output(Protocol):
    """Where a run tells what happens. Called from one thread only."""

    def line(self, pod: str, container: str, text: str) -> None:
        """A line that a process wrote."""

    def event(self, text: str) -> None:
        """Something that happened to the job."""


@dataclass(slots=True)
class Stopping:
    """How containers are stopped: with which signal, and whether to wait."""

    signal: signal.Signals = signal.SIGTERM
    at_once: asyncio.Event = field(default_factory=asyncio.Event)


async def run_container(pod: PodSandbox, container: LocalContainer, output: Output, stopping: Stopping) -> int:
    """Run a container to its end; its exit code. Cancelling stops it, and returns once it is gone."""
    process = await asyncio.create_subprocess_exec(
        *pod.command(container),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    assert process.stdout is not None
    reading = asyncio.create_task(_copy(process.stdout, pod.pod.name, container.name, output))
    try:
        return await process.wait()
    except asyncio.CancelledError:
        await _stop(process, pod.pod.grace, stopping)
        raise
    finally:
        await asyncio.wait({reading}, timeout=None if sys.platform == "linux" else KILL_SECONDS)
        reading.cancel()  # elsewhere a process that is left may hold the pipe


async def _stop(process: asyncio.subprocess.Process, grace: int, stopping: Stopping) -> None:
    """The signal, time to end, then a kill of everything that the container started."""
    _send(process, stopping.signal)
    ended = asyncio.create_task(process.wait())
    hurry = asyncio.create_task(stopping.at_once.wait())
    await asyncio.wait({ended, hurry}, timeout=grace, return_when=asyncio.FIRST_COMPLETED)
    hurry.cancel()
    if not ended.done():
        _send(process, KILL_ALL)
        await asyncio.wait({ended}, timeout=KILL_SECONDS)
    if not ended.done():
        _send(process, signal.SIGKILL)
    await ended


def _send(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(number)


async def _copy(stream: asyncio.StreamReader, pod: str, container: str, output: Output) -> None:
    """Tell each line as it comes. A bar of progress, which ends with a carriage return, counts as a line."""
    decoder, rest, returned = codecs.getincrementaldecoder("utf-8")("replace"), "", False
    while data := await stream.read(_CHUNK):
        text = decoder.decode(data)
        if returned:  # the line end `\r\n` may come in two pieces
            text = text.removeprefix("\n")
        returned = text.endswith("\r")
        *lines, rest = _LINE_END.split(rest + text)
        if len(rest) > _LONGEST:
            lines, rest = [*lines, rest], ""
        for line in lines:
            output.line(pod, container, line)
    if rest:
        output.line(pod, container, rest)


async def until_ready(pod: PodSandbox, container: LocalContainer) -> None:
    """Returns once the container's probe succeeds; at once if it has none."""
    probe = container.probe
    if probe is None:
        return
    await asyncio.sleep(probe.delay)
    while True:
        process = await asyncio.create_subprocess_exec(
            *pod.command(container, probe.command),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            code: int | None = await asyncio.wait_for(process.wait(), probe.timeout + STARTUP_SECONDS)
        except TimeoutError:
            code = None
        finally:
            if process.returncode is None:
                _send(process, signal.SIGKILL)
                await process.wait()
        if code == 0:
            return
        await asyncio.sleep(probe.period)


STARTUP_SECONDS = 10
"""What a probe's own start may take on a busy machine, beside its timeout."""

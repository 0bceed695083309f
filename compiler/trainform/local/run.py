"""`trainform run` as one call."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from trainform.io.files import read_bytes
from trainform.local import devices
from trainform.local.containers import Output
from trainform.local.folders import RunFolder
from trainform.local.job import every_pod_listens, planner
from trainform.local.plan.model import LocalRun
from trainform.local.plan.references import NotHere, Values
from trainform.local.sandbox import Level, RunSandbox, choose, loopback_addresses
from trainform.local.supervisor import Supervisor, no_process_left, signals_restored

if TYPE_CHECKING:
    from trainform.core.compile import CompiledJob


class Ready:
    """A job that can be run on this machine. Raises NotHere if it cannot."""

    def __init__(self, job: CompiledJob, level: Level | None, secrets: Mapping[str, Values]) -> None:
        self.sandbox: RunSandbox = choose(level, every_pod_listens=every_pod_listens(job))
        middle = loopback_addresses()
        self.plan: Callable[[int], LocalRun] = planner(job, lambda n: self.sandbox.address(middle, n), secrets)
        self.devices = devices.devices_here()
        self.first = self.plan(0)
        devices.check(self.first, len(self.devices))

    def run(self, output: Output, *, timeout: float | None, keep: bool) -> int:
        """Run it to its end; the job's exit code."""
        folder = RunFolder.make()
        supervisor = Supervisor(self.plan, self.sandbox, folder, devices.Devices.of(self.devices), output)
        try:
            with no_process_left(), signals_restored():
                return asyncio.run(supervisor.run(timeout))
        finally:
            if keep:
                output.event(f"kept {folder.path}")
            else:
                folder.remove()


def secrets_of(given: Mapping[str, str]) -> dict[str, Values]:
    """The values of Secrets: a folder for each name, with a file for each key. Raises NotHere."""
    found: dict[str, Values] = {}
    for name, folder in given.items():
        try:
            with os.scandir(folder) as entries:
                files = [each.path for each in entries if each.is_file()]
            found[name] = {os.path.basename(file): read_bytes(file) for file in files}
        except OSError as error:
            hint = "name a folder with a file for each key"
            raise NotHere("TF892", f'Secret "{name}": {folder}: {error.strerror}', hint) from error
    return found

"""The GPUs of this machine, dealt out to pods."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

from trainform.local.plan.model import LocalRun, LocalStep
from trainform.local.plan.references import NotHere

VISIBLE = "CUDA_VISIBLE_DEVICES"


def devices_here() -> list[str]:
    """The devices that this process may use, as CUDA names them."""
    if (visible := os.environ.get(VISIBLE)) is not None:
        return [each for each in visible.split(",") if each]
    try:
        names = os.listdir("/dev")
    except OSError:
        return []
    return sorted((name[6:] for name in names if re.fullmatch(r"nvidia\d+", name)), key=int)


@dataclass(frozen=True, slots=True)
class Devices:
    """The devices that no pod has yet."""

    free: list[str]
    total: int

    @classmethod
    def of(cls, devices: list[str]) -> Devices:
        return cls([*devices], len(devices))

    def take(self, count: int) -> list[str]:
        taken = self.free[:count]
        del self.free[:count]
        return taken

    def give_back(self, devices: list[str]) -> None:
        self.free.extend(devices)

    def variables(self, devices: list[str]) -> Mapping[str, str]:
        """What limits a pod to its devices; nothing on a machine without any."""
        return {VISIBLE: ",".join(devices)} if self.total else {}


def check(run: LocalRun, total: int) -> None:
    """Raises NotHere if pods that run at the same time ask for more GPUs than there are."""
    asked = max((_together(run, step) for step in run.steps), key=lambda found: sum(found.values()), default={})
    most = sum(asked.values())
    if most > total:
        have = f"{total} are here" if total else "none is here"
        message = f"the pods of {' and '.join(asked)} ask for {most} GPUs at the same time, and {have}"
        hint = "ask for fewer: --gpus N for each of these pods, or 0 for none; or a smaller --nodes"
        raise NotHere("TF893", message, hint)


def _together(run: LocalRun, step: LocalStep) -> dict[str, int]:
    """The GPUs of a step and of those that may run beside it, by step: no step that one waits for to be complete."""
    apart = _completed_before(run, step.name) | {
        each.name for each in run.steps if step.name in _completed_before(run, each.name)
    }
    beside = [each for each in run.steps if each.name not in apart]
    asked = {each.name: sum(pod.gpus for job in each.jobs for pod in job.pods) for each in beside}
    return {name: count for name, count in asked.items() if count}


def _completed_before(run: LocalRun, name: str) -> set[str]:
    """The steps that are complete before this one starts."""
    waits = {step.name: step.waits_for for step in run.steps}
    found: set[str] = set()
    left = [name]
    while left:
        for step, status in waits.get(left.pop(), ()):
            if status == "Complete" and step not in found:
                found.add(step)
                left.append(step)
    return found

"""The stages of a compile: each extension point, for every plugin that has it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trainform.core.plugin import STAGES, Plugin

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trainform.core.plan import Plan


class PluginFailure(Exception):
    """A plugin raised, which no plugin may; the cause is chained."""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """For each stage, the plugins that take part in it."""

    stages: tuple[tuple[str, tuple[Plugin, ...]], ...]

    @classmethod
    def of(cls, plugins: Sequence[Plugin]) -> Pipeline:
        return cls(tuple((stage, tuple(p for p in plugins if _takes_part(p, stage))) for stage in STAGES))

    def run(self, plan: Plan, finish: Callable[[Plan], None]) -> None:
        """Run all stages over `plan`; `finish` runs between building and checking.

        Two plugins that set one thing to different values are reported, both named.
        """
        acting: dict[Plugin, bool] = {}
        for stage, plugins in self.stages:
            if stage == "check":
                plan.ledger.actor = ""
                finish(plan)
            for plugin in plugins:
                plan.ledger.actor = plugin.name
                if plugin not in acting:
                    acting[plugin] = bool(_run(plugin, "applies", plan))
                if acting[plugin]:
                    _run(plugin, stage, plan)
        plan.ledger.actor = ""
        _report_conflicts(plan)


def _run(plugin: Plugin, method: str, plan: Plan) -> object:
    try:
        result = getattr(plugin, method)(plan)
        if method == "build":
            plan.objects.extend(result)
    except Exception as error:
        raise PluginFailure(f"plugin {plugin.name} failed in {method}: {error!r}") from error
    return result


def _takes_part(plugin: Plugin, stage: str) -> bool:
    return getattr(type(plugin), stage) is not getattr(Plugin, stage)


def _report_conflicts(plan: Plan) -> None:
    for what, first, second in plan.ledger.conflicts:
        plan.report(
            "TF310",
            f"plugins {first} and {second} set {what} to different values",
            hint="use a runtime or environment in which only one of them acts",
            path=("spec", "runtimeRef", "name"),
        )

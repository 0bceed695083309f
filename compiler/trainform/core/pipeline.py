"""The stages of a compile: each extension point, for every plugin that has it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trainform.core.plugin import STAGES, Plugin

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from trainform.core.plan import Plan

    Observer = Callable[[str, str, Plan], None]


class PluginFailure(Exception):
    """A plugin raised, which no plugin may; the cause is chained."""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """For each stage, the plugins that take part in it; `choosy` are those that do not act for every job.

    `observe(stage, plugin, plan)` is called when a plugin is through with a stage, and once before the first
    stage, with empty names. It changes nothing.
    """

    stages: Mapping[str, tuple[Plugin, ...]]
    choosy: frozenset[Plugin]
    observe: Observer | None = None

    @classmethod
    def of(cls, plugins: Sequence[Plugin], observe: Observer | None = None) -> Pipeline:
        stages = {stage: tuple(p for p in plugins if _takes_part(p, stage)) for stage in STAGES}
        return cls(stages, frozenset(p for p in plugins if _takes_part(p, "applies")), observe)

    def run(self, plan: Plan, finish: Callable[[Plan], None]) -> None:
        """Run all stages over `plan`; `finish` runs between building and checking.

        Two plugins that set one thing to different values are reported, both named.
        """
        acting = self.build(plan)
        finish(plan)
        self._stage("check", plan, acting)
        _report_conflicts(plan)

    def build(self, plan: Plan) -> dict[Plugin, bool]:
        """Run all stages but `check`; the answer says which plugins act for the job."""
        acting: dict[Plugin, bool] = {}
        if self.observe:
            self.observe("", "", plan)
        for stage in STAGES[:-1]:
            self._stage(stage, plan, acting)
        return acting

    def _stage(self, stage: str, plan: Plan, acting: dict[Plugin, bool]) -> None:
        for plugin in self.stages[stage]:
            plan.ledger.actor = plugin.name
            if plugin not in acting:
                acting[plugin] = plugin not in self.choosy or bool(_run(plugin, "applies", plan))
            if acting[plugin]:
                _run(plugin, stage, plan)
                if self.observe:
                    self.observe(stage, plugin.name, plan)
        plan.ledger.actor = ""


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

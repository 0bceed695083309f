"""The stages of a compile: runs each extension point for every plugin that has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from trainform.core.beside.adoption import ADOPTION, adopt
from trainform.core.plugin import STAGES, Plugin

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from trainform.core.plan import Plan

    Observer = Callable[[str, str, Plan], None]


class PluginFailure(Exception):
    """A plugin raised, which none may; the cause is chained."""


class Pipeline(NamedTuple):
    """The plugins of each stage, with their methods. `choosy` are those that do not act for every job. `observe(stage,
    plugin, plan)` is called after each plugin of a stage, once before the first stage with empty names, and once
    after companions were added. It must change nothing."""

    stages: Mapping[str, tuple[tuple[Plugin, Callable[[Plan], Any]], ...]]
    choosy: tuple[Plugin, ...]
    observe: Observer | None = None

    @classmethod
    def of(cls, plugins: Sequence[Plugin], observe: Observer | None = None) -> Pipeline:
        stages = {stage: tuple((p, getattr(p, stage)) for p in plugins if _takes_part(p, stage)) for stage in STAGES}
        return cls(stages, tuple(p for p in plugins if _takes_part(p, "applies")), observe)

    def run(self, plan: Plan, finish: Callable[[Plan], bool]) -> None:
        """Run all stages over `plan`. `finish` runs between building and checking; false skips the checks. Two plugins
        that set one thing to different values are reported, both by name."""
        idle = self.build(plan)
        if finish(plan):
            self._stage("check", plan, idle)
        for what, first, second in plan.ledger.conflicts:
            plan.report(
                "TF310",
                f"plugins {first} and {second} set {what} to different values",
                hint="use a runtime or Environment that activates only one of them",
                path=("spec", "runtimeRef", "name"),
            )

    def build(self, plan: Plan) -> set[Plugin]:
        """Run all stages except `check`, and add the job's companions; returns the plugins that do not act for it."""
        idle = self._idle(plan)
        if self.observe:
            self.observe("", "", plan)
        for stage in STAGES[:-1]:
            self._stage(stage, plan, idle)
        if plan.job_document.beside:
            adopt(plan)
            if self.observe:
                self.observe(ADOPTION, "", plan)
        return idle

    def judge(self, plan: Plan) -> None:
        """Run only `check`, over objects that were rendered earlier."""
        self._stage("check", plan, self._idle(plan))

    def _idle(self, plan: Plan) -> set[Plugin]:
        idle, ledger = set(), plan.ledger
        for plugin in self.choosy:
            ledger.actor = plugin.name
            try:
                if not plugin.applies(plan):
                    idle.add(plugin)
            except Exception as error:
                raise _failure(plugin, "applies", error) from error
        return idle

    def _stage(self, stage: str, plan: Plan, idle: set[Plugin]) -> None:
        ledger = plan.ledger
        for plugin, act in self.stages[stage]:
            if plugin in idle:
                continue
            ledger.actor = plugin.name
            try:
                result = act(plan)
                if stage == "build":
                    plan.objects.extend(result)
            except Exception as error:
                raise _failure(plugin, stage, error) from error
            if self.observe:
                self.observe(stage, plugin.name, plan)
        ledger.actor = ""


def _failure(plugin: Plugin, method: str, error: Exception) -> PluginFailure:
    return PluginFailure(f"plugin {plugin.name} failed in {method}: {error!r}")


def _takes_part(plugin: Plugin, stage: str) -> bool:
    return getattr(type(plugin), stage) is not getattr(Plugin, stage)

"""The stages of a compile: runs each extension point for every plugin that has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from trainform.core.plugin import STAGES, Plugin, PluginFailure, failed
from trainform.core.registry import is_shipped

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from trainform.core.plan import Plan

    Observer = Callable[[str, str, Plan], None]
    Act = Callable[[Plan], Any]
    Step = tuple[Plugin, Act]


class Pipeline(NamedTuple):
    """The plugins of each stage, with their methods; `applies` counts as a stage. `observe(stage, plugin, plan)` is
    called after each plugin of a stage, once before the first stage with empty names, and once after companions were
    added. It must change nothing. `guests`: the names of third-party plugins among `plugins`."""

    plugins: tuple[Plugin, ...]
    stages: Mapping[str, tuple[Step, ...]]
    observe: Observer | None = None
    guests: tuple[str, ...] = ()

    @classmethod
    def of(cls, plugins: Sequence[Plugin], observe: Observer | None = None) -> Pipeline:
        stages = {
            stage: tuple((plugin, _act(plugin, stage)) for plugin in plugins if _takes_part(plugin, stage))
            for stage in ("applies", *STAGES)
        }
        guests = tuple(each.name for each in plugins if not is_shipped(each.name))
        return cls(tuple(plugins), stages, observe, guests)

    def of_usable(self, unusable: Collection[str]) -> Pipeline:
        """The pipeline without some plugins."""
        return Pipeline.of([each for each in self.plugins if each.name not in unusable], self.observe)

    def without(self, stage: str, plugin: Plugin) -> Pipeline:
        """The pipeline without one extension point of one plugin, unobserved."""
        kept = tuple(step for step in self.stages[stage] if step[0] is not plugin)
        return self._replace(stages={**self.stages, stage: kept}, observe=None)

    def guest_steps(self) -> list[tuple[str, Plugin]]:
        """Every extension point of third-party plugins, in running order."""
        return [
            (stage, step[0]) for stage, steps in self.stages.items() for step in steps if step[0].name in self.guests
        ]

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
            from trainform.core.beside.adoption import ADOPTION, adopt  # most jobs have no companions

            adopt(plan)
            if self.observe:
                self.observe(ADOPTION, "", plan)
        return idle

    def judge(self, plan: Plan) -> None:
        """Run only `check`, over objects that were rendered earlier."""
        self._stage("check", plan, self._idle(plan))

    def _idle(self, plan: Plan) -> set[Plugin]:
        return {plugin for plugin, applies in self.stages["applies"] if not self._run(plugin, "applies", applies, plan)}

    def _stage(self, stage: str, plan: Plan, idle: set[Plugin]) -> None:
        for plugin, act in self.stages[stage]:
            if plugin in idle:
                continue
            self._run(plugin, stage, act, plan)
            if self.observe:
                self.observe(stage, plugin.name, plan)
        plan.ledger.actor = ""

    def _run(self, plugin: Plugin, stage: str, act: Act, plan: Plan) -> Any:
        plan.ledger.actor = plugin.name
        try:
            result = act(plan)
            if stage == "build":
                plan.add(plugin.name, result)
            return result
        except PluginFailure:
            raise
        except Exception as error:
            raise failed(plugin.name, stage, error) from error


def _act(plugin: Plugin, stage: str) -> Act:
    if is_shipped(plugin.name):
        method: Act = getattr(plugin, stage)
        return method
    from trainform.core.guests.rules import guest_act  # most installations have no third-party plugin

    return guest_act(plugin, stage)


def _takes_part(plugin: Plugin, stage: str) -> bool:
    return getattr(type(plugin), stage) is not getattr(Plugin, stage)

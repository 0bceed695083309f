"""The plugin API: what a plugin is, and when each extension point runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from trainform.core.given.model import NOTHING_GIVEN, Given

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainform.api.base import Model
    from trainform.core.plan import Plan
    from trainform.k8s.tree import Tree

STAGES = (
    "validate",
    "enforce_ml_policy",
    "enforce_pod_group_policy",
    "enforce_pod_spec",
    "pre_build_sync",
    "build",
    "check",
)
"""The extension points in running order. Each runs for all plugins before the next."""


class Plugin:
    """One concern of a training job: an ML framework, a scheduler, the JobSet itself.

    A plugin overrides `name`, `applies` and the extension points that it needs; the others cost nothing. It never reads
    files, the clock, environment variables or other plugins, and it reports problems through `plan.report` instead of
    raising. Instances are created once, without arguments, and serve every job, so they hold no state.
    """

    name: ClassVar[str]

    settings: ClassVar[type[Model] | None] = None
    """What the plugin reads from `spec.plugins.<name>` of an Environment; see `Plan.settings`."""

    given: ClassVar[Given] = NOTHING_GIVEN
    """The variables, host names and ports that this plugin gives to a job's pods, for `explain`, `run` and the
    documentation."""

    judges_frozen: ClassVar[bool] = False
    """Whether `check` is also called with objects that were rendered earlier from other inputs, and are still applied.
    Such a plan has `objects`, `job`, today's `environment`, `facts` and `keys`; its runtime and pod sets are empty."""

    def applies(self, plan: Plan) -> bool:
        """Whether this plugin has anything to do for the job; called once, before the stages."""
        return True

    def validate(self, plan: Plan) -> None:
        """Report what is wrong with the job as written. Must not modify the plan."""

    def enforce_ml_policy(self, plan: Plan) -> None:
        """Set the ML framework's node counts, variables, ports and volumes."""

    def enforce_pod_group_policy(self, plan: Plan) -> None:
        """Mark the pods as members of a gang. Node counts are final from here on."""

    def enforce_pod_spec(self, plan: Plan) -> None:
        """Apply the TrainJob's images, commands, variables and initializers."""

    def pre_build_sync(self, plan: Plan) -> None:
        """Update dependent fields (pod counts, host names). Runs after all enforcement."""

    def build(self, plan: Plan) -> Iterable[Tree]:
        """The finished objects that this plugin adds to the job, as plain trees."""
        return ()

    def check(self, plan: Plan) -> None:
        """Report what is wrong with the finished `plan.objects`. Must not modify them."""


class PluginFailure(Exception):
    """A plugin broke the rules of the API. `cause`, if it raised, is chained. Can be pickled."""

    def __init__(
        self,
        message: str,
        plugin: str = "",
        code: str = "TF901",
        hint: str = "report this bug to the authors of the plugin",
    ) -> None:
        super().__init__(message, plugin, code, hint)
        self.plugin, self.code, self.hint = plugin, code, hint

    def __str__(self) -> str:
        return str(self.args[0])


def failed(plugin: str, method: str, error: BaseException) -> PluginFailure:
    return PluginFailure(f"plugin {plugin} failed in {method}: {error!r}", plugin)

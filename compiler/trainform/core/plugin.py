"""The plugin API: what a plugin is, and when each of its extension points runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterable

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
"""The extension points in the order in which they run, each for all plugins before the next."""


class Plugin:
    """One concern of a training job: an ML framework, a scheduler, the JobSet itself.

    A plugin overrides `name`, `applies` and the extension points that it needs; the ones it
    leaves alone cost nothing. It never reads a file, the clock, the environment or another
    plugin, and it tells problems through `plan.report`, not by raising. Instances are
    created once, without arguments, and serve every job: they hold no state.
    """

    name: ClassVar[str]

    def applies(self, plan: Plan) -> bool:
        """Whether this plugin has anything to do for the job; asked once, before the stages."""
        return True

    def validate(self, plan: Plan) -> None:
        """Report what is wrong with the job as written. Changes nothing."""

    def enforce_ml_policy(self, plan: Plan) -> None:
        """Set node counts, variables, ports and volumes of the ML framework."""

    def enforce_pod_group_policy(self, plan: Plan) -> None:
        """Mark the pods as members of a gang. Node counts are final from here on."""

    def enforce_pod_spec(self, plan: Plan) -> None:
        """Apply what the TrainJob says about images, commands, variables and initializers."""

    def pre_build_sync(self, plan: Plan) -> None:
        """Bring dependent fields in line: pod counts, host names. Runs after all enforcement."""

    def build(self, plan: Plan) -> Iterable[Tree]:
        """The finished objects that this plugin adds to the job, as plain trees."""
        return ()

    def check(self, plan: Plan) -> None:
        """Report what is wrong with the finished `plan.objects`. Changes nothing."""

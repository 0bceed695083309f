"""Life cycle: what happens to a job whose manifests a GitOps engine keeps re-applying."""

from __future__ import annotations

from trainform.plugin import Plan, Plugin
from trainform_plugins.lifecycle.ends import claims_die_with_their_job, deletes_itself, is_made_anew, kueue_deletes_it
from trainform_plugins.lifecycle.names import names_that_do_not_follow, shared_subdomain
from trainform_plugins.lifecycle.syncs import (
    held_by_kueue,
    is_a_hook,
    misspelled_sync_option,
    namespace_of_nobody,
    tracked_by_hand,
    unknown_pod_group,
    waits_or_is_skipped,
)

OF_THE_JOBSET = (
    deletes_itself,
    kueue_deletes_it,
    claims_die_with_their_job,
    is_made_anew,
    held_by_kueue,
    names_that_do_not_follow,
    shared_subdomain,
)
OF_ALL_OBJECTS = (
    is_a_hook,
    tracked_by_hand,
    waits_or_is_skipped,
    misspelled_sync_option,
    namespace_of_nobody,
    unknown_pod_group,
)
"""The rules, one function each; the docstring says why it exists."""


class LifeCycle(Plugin):
    """Rejects what makes an engine run, kill or lose a job on its own, and warns about what may lead there."""

    name = "lifecycle"
    judges_frozen = True

    def check(self, plan: Plan) -> None:
        jobset = plan.jobset
        if jobset is not None:
            for rule in OF_THE_JOBSET:
                rule(plan, jobset)
        for lint in OF_ALL_OBJECTS:
            lint(plan)

"""The modules whose decisions matter most, and the tests that must notice a fault in them."""

from __future__ import annotations

from pathlib import Path

PROJECT = Path(__file__).parents[2]

_GOLDEN = "tests/golden/test_golden.py::test_compiles_to_the_expected_files_in_any_order_of_documents"
_RENDER = (
    "tests/unit/cli/test_render.py",
    "tests/unit/cli/test_upgrade.py",
    "tests/unit/workspace/test_apply.py",
    "tests/unit/workspace/test_fingerprint.py",
    "tests/unit/workspace/test_recorded.py",
)
_CHECK = (
    "tests/unit/cli/test_check.py",
    "tests/unit/cli/test_applied.py",
    "tests/hostile/test_pins.py",
    "tests/hostile/test_lists.py",
    "tests/hostile/test_reading.py",
)
_CACHE = tuple(
    f"tests/end_to_end/test_build_cache.py::{test}"
    for test in (
        "test_nothing_is_read_where_nothing_changed",
        "test_a_check_needs_nothing_that_only_a_render_finds_out",
        "test_a_shard_counts_no_job_of_another_one",
        "test_a_run_with_nothing_to_tell_does_not_even_look_at_what_jobs_share",
        "test_who_is_behind_is_told_from_the_cache",
        "test_warnings_about_what_jobs_share_are_told_again",
        "test_a_run_about_a_part_or_without_a_cache_leaves_none",
        "test_a_change_of_a_few_jobs_is_found_without_reading_the_others[edit]",
        "test_frozen_jobs_of_which_nothing_is_known_are_read_once",
        "test_a_check_reads_each_file_once",
        "test_what_is_wrong_with_frozen_jobs_is_told_by_each_check",
    )
)
_SLICES = tuple(
    f"tests/unit/cli/test_slices.py::{test}"
    for test in (
        "test_shards_together_check_what_one_run_checks",
        "test_slices_make_what_one_piece_makes_of_a_change",
        "test_slices_say_of_a_pull_request_what_one_piece_says",
    )
)
_FRESH = tuple(
    f"tests/end_to_end/test_build_cache.py::test_a_fresh_clone_is_rendered_as_if_every_file_were_parsed[{change}]"
    for change in (
        "nothing",
        "edit",
        "edit_by_hand",
        "lock_is_broken",
        "output_is_gone",
        "a_run_was_interrupted",
        "a_snapshot_is_gone",
        "output_outside_of_the_repository",
        "an_environment_goes",
        "an_environment_of_its_own_namespace",
        "an_environment_that_selects_by_label",
        "an_environment_changes_and_the_snapshots_are_gone",
    )
)
_KUEUE = (
    "tests/unit/plugins/test_kueue_webhook.py",
    "tests/unit/plugins/test_kueue.py",
    "tests/unit/plugins/test_kueue_requests.py",
    *(f"{_GOLDEN}[kueue/{case.name}]" for case in sorted((PROJECT / "golden/kueue").iterdir())),
)

TESTS: dict[str, tuple[str, ...]] = {
    "trainform.k8s.patch.strategic_merge": (
        "tests/unit/k8s/test_strategic_merge.py",
        "tests/property/test_strategic_merge.py",
        "tests/unit/core/test_patches.py",
        "tests/unit/core/test_object_patches.py",
    ),
    "trainform.review.diff.update_rules": (
        "tests/unit/review/test_changes.py",
        "tests/unit/review/test_diff.py",
    ),
    "trainform.workspace.fingerprint": (
        "tests/unit/workspace",
        "tests/unit/cli/test_upgrade.py",
    ),
    "trainform.workspace.frozen": (*_RENDER, "tests/unit/cli/test_check.py", "tests/hostile/test_pins.py"),
    "trainform_plugins.torch": (
        "tests/unit/plugins/test_torch.py",
        _GOLDEN,
        "tests/unit/plugins/test_user_reports.py",
    ),
    "trainform.core.trainer": (
        "tests/unit/plugins/test_counts_without_trainer.py",
        "tests/unit/plugins/test_torch.py",
        _GOLDEN,
        "tests/unit/review/test_explain.py",
        "tests/conformance",
    ),
    "trainform.core.plan": (
        "tests/unit/core",
        "tests/unit/review/test_explain.py",
        _GOLDEN,
        "tests/unit/plugins",
        "tests/conformance",
    ),
    "trainform.workspace.behind": ("tests/unit/workspace/test_behind.py", "tests/unit/cli/test_upgrade.py"),
    "trainform.workspace.build": (
        *_RENDER,
        *_CACHE,
        "tests/hostile/test_lists.py::test_render_removes_the_lists_of_an_earlier_version_and_no_job_restarts",
        "tests/hostile/test_reading.py::test_a_job_called_as_the_object_of_another",
    ),
    "trainform.workspace.chunk": (
        *_RENDER,
        "tests/unit/cli/test_check.py",
        "tests/unit/cli/test_slices.py",
        *_CACHE,
    ),
    "trainform.workspace.apply": _RENDER,
    "trainform.workspace.verify.applied": _CHECK,
    "trainform.workspace.verify.base": _CHECK,
    "trainform.workspace.verify.examination": (*_CHECK, "tests/hostile/test_plugins.py"),
    "trainform.workspace.verify.tracked": ("tests/unit/workspace/test_tracked.py", "tests/unit/cli/test_render.py"),
    "trainform.workspace.verify.verdict": _CHECK,
    "trainform.workspace.verify.verification": (*_CHECK, *_CACHE, *_SLICES),
    "trainform.workspace.cache.affected": (
        *_CACHE,
        *_FRESH,
        "tests/end_to_end/test_build_cache.py::test_a_fresh_clone_parses_nothing_that_did_not_change",
        "tests/unit/cli/test_render.py",
    ),
    "trainform.workspace.cache.build_cache": (
        *_CACHE,
        "tests/end_to_end/test_build_cache.py::test_what_a_run_wrote_is_read_by_the_next",
        "tests/end_to_end/test_build_cache.py::test_what_changed_after_a_run_began_is_read_again",
        "tests/end_to_end/test_build_cache.py::test_what_changed_just_when_a_run_began_is_read_again",
        "tests/end_to_end/test_build_cache.py::test_inputs_that_change_during_a_run_are_not_what_it_vouches_for",
        "tests/end_to_end/test_build_cache.py::test_files_that_change_during_a_run_are_not_what_it_vouches_for",
        "tests/end_to_end/test_build_cache.py::test_a_link_out_of_the_repository_is_told_by_each_run",
        "tests/end_to_end/test_build_cache.py::test_a_change_of_a_few_jobs_is_found_without_reading_the_others[edit_by_hand]",
        "tests/end_to_end/test_build_cache.py::test_a_change_that_may_concern_any_job_is_found[a_snapshot_is_gone]",
        "tests/end_to_end/test_build_cache.py::test_a_runtime_whose_file_has_a_name_that_is_no_text_counts_as_any_other",
        "tests/end_to_end/test_build_cache.py::test_what_jobs_request_is_not_believed_without_a_cache",
        "tests/end_to_end/test_build_cache.py::test_without_a_look_at_its_own_code_trainform_keeps_no_cache",
    ),
    "trainform.workspace.cache.index": ("tests/unit/workspace/cache/test_index.py",),
    "trainform_plugins.kueue": (
        *_KUEUE,
        "tests/unit/review/test_explain.py::test_multikueue_belongs_to_the_line_of_the_environment_that_asks_for_it",
    ),
    "trainform_plugins.kueue.asked": _KUEUE,
    "trainform_plugins.kueue.features": _KUEUE,
    "trainform_plugins.kueue.labels": _KUEUE,
    "trainform_plugins.kueue.multikueue": _KUEUE,
    "trainform_plugins.kueue.queues": _KUEUE,
    "trainform_plugins.kueue.requests": _KUEUE,
    "trainform_plugins.kueue.topology": _KUEUE,
    "trainform_plugins.kueue.webhook": _KUEUE,
}

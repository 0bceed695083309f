"""The modules whose decisions matter most, and the tests that must notice a fault in them."""

from __future__ import annotations

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
        "test_who_is_behind_is_told_from_the_cache",
        "test_warnings_about_what_jobs_share_are_told_again",
        "test_a_run_about_a_part_or_without_a_cache_leaves_none",
    )
)
_KUEUE = ("tests/unit/plugins/test_kueue_webhook.py", "tests/unit/plugins/test_kueue.py", _GOLDEN)

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
    "trainform.workspace.chunk": (*_RENDER, "tests/unit/cli/test_slices.py", *_CACHE),
    "trainform.workspace.apply": _RENDER,
    "trainform.workspace.verify.applied": _CHECK,
    "trainform.workspace.verify.base": _CHECK,
    "trainform.workspace.verify.examination": (*_CHECK, "tests/hostile/test_plugins.py"),
    "trainform.workspace.verify.tracked": ("tests/unit/workspace/test_tracked.py", "tests/unit/cli/test_render.py"),
    "trainform.workspace.verify.verdict": _CHECK,
    "trainform.workspace.verify.verification": _CHECK,
    "trainform_plugins.kueue.queues": _KUEUE,
    "trainform_plugins.kueue.topology": _KUEUE,
    "trainform_plugins.kueue.webhook": _KUEUE,
}

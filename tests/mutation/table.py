"""The modules whose decisions matter most, and the tests that must notice a fault in them."""

from __future__ import annotations

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
    "trainform.workspace.frozen": (
        "tests/unit/workspace",
        "tests/unit/cli/test_upgrade.py",
        "tests/unit/cli/test_check.py",
        "tests/unit/cli/test_render.py",
        "tests/end_to_end/test_gitops_story.py",
    ),
    "trainform_plugins.torch": (
        "tests/unit/plugins/test_torch.py",
        "tests/golden/test_golden.py",
        "tests/unit/plugins/test_user_reports.py",
    ),
    "trainform.core.trainer": (
        "tests/unit/plugins/test_torch.py",
        "tests/golden/test_golden.py",
        "tests/unit/review/test_explain.py",
        "tests/conformance",
    ),
}

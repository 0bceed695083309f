"""docs/capacity.md names every release on which a check depends."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainform.k8s.cluster.releases import JOBSET, POD
from trainform.review.capacity import releases
from trainform_plugins.kueue.features import ON_BY_DEFAULT, SINCE

PAGE = (Path(__file__).parents[3] / "docs" / "capacity.md").read_text(encoding="utf-8")
NAMED = [
    *{f"JobSet {feature.since[0]}.{feature.since[1]}" for feature in JOBSET},
    *{f"Kubernetes {feature.since[0]}.{feature.since[1]}" for feature in POD},
    *{f"Kueue {major}.{minor}" for major, minor in (*SINCE.values(), ON_BY_DEFAULT)},
    *{f"Kueue {major}.{minor}" for (major, minor, _), _ in releases.MOST_POD_SETS[:-1]},
    "Kueue " + ", ".join(".".join(map(str, release)) for release in releases.OWN_KEYS),
]


@pytest.mark.parametrize("release", sorted(NAMED))
def test_the_page_has_a_row_for_each_release(release):
    assert f"\n| {release} |" in PAGE

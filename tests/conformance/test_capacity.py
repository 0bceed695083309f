"""The whole capacity corpus: our verdicts equal those of Kueue's scheduler."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.scenarios import Scenario, answers, scenarios

NOT_ADMITTED = ("never", "refused")
"""A job that Kueue never admits, or for which it makes no Workload, may be refused even earlier: by `validate`."""


@pytest.mark.parametrize("scenario", [pytest.param(each, id=each.id) for each in scenarios()])
def test_the_verdicts_are_kueues(scenario: Scenario, tmp_path: Path) -> None:
    ours = answers(scenario.files, tmp_path)
    assert ours.keys() == scenario.alone.keys()
    for job, told in scenario.alone.items():
        expected = ("fits", "waits") if told["verdict"] == "admitted" else NOT_ADMITTED
        assert ours[job].verdict in expected, (job, told, ours[job])
    for job, outcome in (scenario.together or {}).items():
        assert ours[job].verdict == {"admitted": "fits", "waits": "waits"}[outcome], (job, outcome, ours[job])

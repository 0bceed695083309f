"""The check of CI fails where a ratio is over its limit, and where it cannot tell."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks import fleet, peers, profile, starts
from benchmarks.limits import TOLERANCE, hold, parts, ratios, read_limits, write_limits
from benchmarks.measure import REFERENCE, Taken

KUSTOMIZE = "torch-300: trainform render, cold, wall / kustomize"
COLD = "mixed-1000: render, cold, CPU / reference loop"


def taken(seconds: float, memory: int = 50) -> Taken:
    """Beside a loop that takes 0.1 s."""
    return Taken(seconds, seconds, memory, loops=seconds / 0.1)


def figures(cold: float = 1.0, kustomize: float | None = 0.8) -> dict[str, dict[str, Taken]]:
    """A run in which every command takes half a second, but those that are named; the loop takes 0.1 s."""
    loop, usual = taken(0.1, memory=10), taken(0.5)
    peer = {} if kustomize is None else {peers.KUSTOMIZE: Taken(kustomize, 2 * kustomize, 90)}
    commands = dict.fromkeys([fleet.NO_CHANGE_UNPROVEN, fleet.VALIDATE, fleet.CHECK, fleet.ONE_JOB_DIFF], usual)
    return {
        "processes": {REFERENCE: loop, starts.PYTHON: Taken(0.01, 0.01, 10), starts.VERSION: usual},
        "torch-300": {REFERENCE: loop, peers.RENDER: taken(0.4), **peer},
        profile.START: {"click": usual},
        "mixed-100": {REFERENCE: loop, fleet.COLD: taken(0.3 * cold), **commands},
        "mixed-1000": {REFERENCE: loop, fleet.COLD: taken(cold), **commands},
    }


@pytest.fixture
def limits(tmp_path, monkeypatch):
    """Limits as they are set by a quiet run."""
    monkeypatch.setattr("benchmarks.limits.FILE", tmp_path / "limits.json")
    write_limits(ratios(figures()))
    return read_limits()


def test_ratios_of_a_run():
    found = ratios(figures())
    assert found[COLD] == pytest.approx(10)
    assert found[KUSTOMIZE] == pytest.approx(0.5)
    assert found["processes: trainform --version, CPU / python -c pass"] == pytest.approx(50)
    assert found["render, cold: CPU per job, 1000 / 100 jobs"] == pytest.approx(1 / 3)


def test_peers_profiles_and_smaller_repositories_have_no_limit_of_their_own():
    assert not [name for name in ratios(figures()) if "kubectl" in name or name.startswith(("mixed-100:", "imports:"))]


def test_a_run_as_quiet_as_the_one_before_passes(limits):
    outcome = hold(ratios(figures()), limits)
    assert outcome.failures == []
    assert outcome.notes == []


@pytest.mark.parametrize(("slower", "fails"), [(0.5, False), (TOLERANCE - 0.1, False), (TOLERANCE + 0.1, True)])
def test_slower_than_the_tolerance_fails(limits, slower, fails):
    failures = hold(ratios(figures(cold=slower)), limits).failures
    assert bool(failures) is fails
    assert not fails or failures[0] == f"{COLD}: {10 * slower:.3g} is over the limit of 22"


def test_losing_ground_to_kustomize_fails(limits):
    assert hold(ratios(figures(kustomize=0.25)), limits).failures == [f"{KUSTOMIZE}: 1.6 is over the limit of 1.1"]


def test_growing_faster_than_the_number_of_jobs_fails(limits):
    slow = figures()
    slow["mixed-100"][fleet.CHECK] = taken(0.2)
    assert [line.split(":")[0] for line in hold(ratios(slow), limits).failures] == ["check"]


@pytest.mark.parametrize(("group", "part"), [("processes", "starts"), ("torch-300", "peers"), ("mixed-1000", "mixed")])
def test_only_the_part_that_failed_is_measured_again(limits, group, part):
    slow = figures()
    slow[group] = {name: replace(each, cpu=9 * each.cpu, loops=9 * each.loops) for name, each in slow[group].items()}
    slow["processes"][starts.PYTHON] = taken(0.01)
    assert parts(hold(ratios(slow), limits).failures) == [part]


def test_without_kubectl_the_loop_alone_judges_and_it_is_said(limits):
    outcome = hold(ratios(figures(kustomize=None)), limits)
    assert outcome.failures == []
    assert outcome.notes == [f"{KUSTOMIZE}: not measured, for want of kubectl; the reference loop stands in for it"]


def test_a_limit_of_something_that_is_measured_no_more_fails(limits):
    found = {name: ratio for name, ratio in ratios(figures()).items() if name != COLD}
    assert hold(found, limits).failures == [f"{COLD}: has a limit, but was not measured"]


def test_a_measurement_without_a_limit_is_told(limits):
    outcome = hold({**ratios(figures()), "new": 3.0}, limits)
    assert outcome.failures == []
    assert outcome.notes == ["new: 3, without a limit"]


def test_every_limit_of_the_project_has_room_above_nothing():
    assert all(limit > 0 for limit in read_limits().values())
    assert any(name.endswith(" / kustomize") for name in read_limits())

"""What an engine pays for each job."""

from __future__ import annotations

import pytest

from benchmarks import engines
from benchmarks.measure import Taken


def test_the_start_of_kubectl_is_not_paid_for_each_job():
    taken = {engines.PLAIN: Taken(1, 0.5), engines.FLUX: Taken(9, 30), engines.START: Taken(9, 10)}
    assert engines.per_job(taken, 10_100) == {
        engines.PLAIN: pytest.approx(0.5 / 10_100),
        engines.FLUX: pytest.approx(30 / 10_100),
        engines.START: pytest.approx(10 / 100),
        engines.INSIDE: pytest.approx(20 / 10_000),
    }


@pytest.mark.parametrize(
    "taken", [{engines.PLAIN: Taken(1, 1)}, {engines.FLUX: Taken(1, 1), engines.START: Taken(1, 1)}]
)
def test_with_one_job_in_each_namespace_or_without_kubectl_there_is_no_difference(taken):
    assert engines.INSIDE not in engines.per_job(taken, 100)

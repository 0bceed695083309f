"""What jobs cost, by the prices of their Environment."""

from __future__ import annotations

from fractions import Fraction

import pytest

from trainform.api.environment import Environment
from trainform.review.capacity.demand import job_demand
from trainform.review.capacity.verdicts import capacity
from trainform.review.cost.money import Cost, Range, Sums, exact, signed, written
from trainform.review.cost.pricing import Pricing
from unit.review.cluster import GPU, cluster_queue, facts, flavor, group, job, local_queue, step

TWO_FLAVORS = facts(
    flavor("spot"),
    flavor("h100"),
    cluster_queue("main", group({"spot": {GPU: 8}, "h100": {GPU: 64}})),
    local_queue(),
)


def pricing(declared=TWO_FLAVORS, flavors=None, currency="USD", **resources):
    prices = {"currency": currency, "resources": _named(resources)}
    prices["flavors"] = {name: _named(each) for name, each in (flavors or {}).items()}
    head = {"apiVersion": "trainform.dev/v1alpha1", "kind": "Environment", "metadata": {"name": "prod"}}
    found = Pricing.of(Environment.model_validate({**head, "spec": {"prices": prices}}), declared)
    assert found is not None
    return found


def _named(prices):
    return {GPU if key == "gpu" else key: price for key, price in prices.items()}


def cost(jobset, prices, declared=TWO_FLAVORS):
    return prices.cost(job_demand(jobset, declared))


def ranged(low, high):
    return Range(Fraction(low), Fraction(high))


@pytest.mark.parametrize(
    ("value", "shown", "bound", "program"),
    [
        ("0", "0.00", "0.00", "0.00"),
        ("1234.5", "1,234.50", "1,234.50", "1234.50"),
        ("0.005", "0.01", "0.01", "0.005"),
        ("0.0049", "<0.01", "0.01", "0.0049"),
        ("2.675", "2.68", "2.68", "2.675"),
        ("2.6749999", "2.67", "2.68", "2.675"),
        ("1/3", "0.33", "0.34", "0.333333"),
        ("999999999.999", "1,000,000,000.00", "1,000,000,000.00", "999999999.999"),
    ],
)
def test_amounts_are_rounded_half_up_and_bounds_up(value, shown, bound, program):
    exactly = Fraction(value)
    assert (written(exactly), written(exactly, upwards=True), exact(exactly)) == (shown, bound, program)


def test_nothing_is_lost_before_an_amount_is_shown():
    third = Cost("USD", Range(Fraction(1, 300), Fraction(1, 300)))
    assert str(Sums.of([third] * 3000)) == "10.00 USD"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (ranged(16, 16), "+16.00"),
        (ranged(-3, -3), "-3.00"),
        (ranged(16, 32), "+16.00 to +32.00"),
        (ranged(-2, 1), "-2.00 to +1.00"),
    ],
)
def test_a_difference_has_a_sign(change, expected):
    assert signed(change) == expected


def test_a_difference_for_programs_has_one_too():
    assert ranged(-2, "0.5").to_json() == {"min": "-2.00", "max": "0.50"}


@pytest.mark.parametrize(
    ("resources", "asked", "expected"),
    [
        ({"gpu": "2.50"}, {"gpu": 8}, "20.00"),
        ({"cpu": "0.03"}, {"cpu": "1500m"}, "0.05"),
        ({"memory": "0.004"}, {"memory": "256Gi"}, "1.02"),
        ({"memory": "1"}, {"memory": "512Mi"}, "0.50"),
        ({"ephemeral-storage": "0.5"}, {"ephemeral-storage": "2Gi"}, "1.00"),
        ({"hugepages-2Mi": "2"}, {"hugepages-2Mi": "1Gi"}, "2.00"),
        ({"example.com/licence": "7"}, {"example.com/licence": 3}, "21.00"),
        ({"gpu": "2.50"}, {"gpu": 1, "cpu": 64}, "2.50"),
    ],
    ids=lambda value: str(value),
)
def test_the_unit_of_a_price(resources, asked, expected):
    assert str(cost(job(step(**asked)), pricing(**resources)).hourly) == expected


def test_all_pods_of_all_steps_count():
    assert str(cost(job(step("a", 4, gpu=8), step("b", 2, gpu=1)), pricing(gpu="1")).hourly) == "34.00"


def test_a_queue_with_several_flavors_gives_a_range():
    prices = pricing(gpu="9", flavors={"spot": {"gpu": "1"}, "h100": {"gpu": "4"}})
    assert str(cost(job(step(gpu=2)), prices).hourly) == "2.00–8.00"


def test_a_flavor_without_a_price_of_its_own_costs_what_is_usual():
    assert str(cost(job(step(gpu=1)), pricing(gpu="9", flavors={"spot": {"gpu": "1"}})).hourly) == "1.00–9.00"


def test_flavors_of_other_queues_do_not_matter():
    prices = pricing(gpu="9", flavors={"spot": {"gpu": "1"}, "h100": {"gpu": "4"}, "gb200": {"gpu": "99"}})
    assert str(cost(job(step(gpu=1)), prices).hourly) == "1.00–4.00"


@pytest.mark.parametrize("queue", ["", "elsewhere"])
def test_without_a_known_queue_any_flavor_is_possible(queue):
    prices = pricing(gpu="9", flavors={"spot": {"gpu": "1"}, "gb200": {"gpu": "99"}})
    assert str(cost(job(step(gpu=1), queue=queue), prices).hourly) == "1.00–99.00"


def test_the_default_queue_of_a_namespace_is_known():
    declared = facts(flavor("h100"), cluster_queue("main", group({"h100": {GPU: 8}})), local_queue("default"))
    prices = pricing(declared, gpu="9", flavors={"h100": {"gpu": "4"}})
    assert str(cost(job(step(gpu=1), queue=""), prices, declared).hourly) == "4.00"


def test_capacity_tells_the_flavor_that_a_job_gets():
    prices = pricing(flavors={"spot": {"gpu": "1"}, "h100": {"gpu": "4"}})
    jobs = [job(step(gpu=8), name="a"), job(step(gpu=8), name="b"), job(step(gpu=80), name="c")]
    held = capacity([job_demand(each, TWO_FLAVORS) for each in jobs], TWO_FLAVORS, prices)
    told = [(each.name, each.verdict, str(each.cost.hourly)) for each in held.jobs if each.cost]
    assert told == [("a", "fits", "8.00"), ("b", "fits", "32.00"), ("c", "never", "80.00–320.00")]
    assert str(held.costs) == "120.00–360.00 USD"


def test_a_resource_without_quota_comes_from_the_same_nodes():
    configuration = {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "metadata": {"name": "kueue"},
        "resources": {"excludeResourcePrefixes": ["cpu"]},
    }
    declared = facts(*TWO_FLAVORS.objects.values(), configuration)
    prices = pricing(declared, cpu="1", flavors={"spot": {"cpu": "0.1"}})
    held = capacity([job_demand(job(step(gpu=1, cpu=10)), declared)], declared, prices)
    assert [str(each.cost.hourly) for each in held.jobs if each.cost] == ["1.00"]


def test_a_run_may_get_the_dearest_flavor_although_the_first_one_fits():
    prices = pricing(flavors={"spot": {"gpu": "1"}, "h100": {"gpu": "4"}})
    jobset = job(step(gpu=8), max_exec_time_seconds="7200")
    (told,) = capacity([job_demand(jobset, TWO_FLAVORS)], TWO_FLAVORS, prices).jobs
    assert str(told.cost) == "8.00 USD per hour, at most 64.00 USD per run"


def deadline(each, seconds):
    each["template"]["spec"]["activeDeadlineSeconds"] = seconds
    return each


def restarts(jobset, number=None, *actions):
    rules = [{"name": f"rule{index}", "action": action} for index, action in enumerate(actions)]
    jobset["spec"]["failurePolicy"] = {"maxRestarts": number, "rules": rules}
    return jobset


HOUR = 3600


@pytest.mark.parametrize(
    ("jobset", "hours"),
    [
        (job(step(gpu=1)), None),
        (job(step(gpu=1), max_exec_time_seconds=str(HOUR)), 1),
        (job(step(gpu=1), queue="", max_exec_time_seconds=str(HOUR)), None),
        (job(deadline(step(gpu=1), 2 * HOUR)), 2),
        (job(deadline(step(gpu=1), 2 * HOUR), max_exec_time_seconds=str(HOUR)), 1),
        (job(deadline(step(gpu=1), HOUR), max_exec_time_seconds=str(2 * HOUR)), 1),
        (restarts(job(deadline(step(gpu=1), HOUR)), 3), 4),
        (restarts(job(deadline(step(gpu=1), HOUR)), 3, "FailJobSet"), 4),
        (restarts(job(deadline(step(gpu=1), HOUR)), 3, "RestartJobSetAndIgnoreMaxRestarts"), None),
        (restarts(job(step(gpu=1), max_exec_time_seconds=str(HOUR)), 3, "RestartJobAndIgnoreMaxRestarts"), 1),
        (restarts(job(deadline(step(gpu=1), 2 * HOUR), max_exec_time_seconds=str(3 * HOUR)), 1), 3),
        (job(deadline(step("a", gpu=1), HOUR), step("b", gpu=1)), None),
        (job(deadline(step("a", gpu=1), HOUR), step("b", cpu=1)), 1),
        (job(deadline(step("a", gpu=1), HOUR), deadline(step("b", gpu=1), 2 * HOUR)), 3),
    ],
    ids=[
        "no deadline",
        "Kueue's limit",
        "Kueue's limit without a queue binds nobody",
        "the Job's deadline",
        "Kueue's limit is less",
        "the Job's deadline is less",
        "each restart begins the Job's deadline anew",
        "a rule that fails the JobSet changes nothing",
        "restarts without limit",
        "Kueue's limit holds however often a job restarts",
        "twice the Job's deadline is more than Kueue's limit",
        "one step has no deadline",
        "one step has no deadline and costs nothing",
        "each step until its own deadline",
    ],
)
def test_a_run_costs_at_most_what_its_deadlines_allow(jobset, hours):
    assert cost(jobset, pricing(gpu="1")).run == hours


def test_currencies_are_never_added_up():
    costs = [Cost("USD", ranged(1, 1)), Cost("EUR", ranged(2, 3)), Cost("USD", ranged(4, 4)), None]
    assert str(Sums.of(costs)) == "2.00–3.00 EUR, 5.00 USD"


def test_without_prices_there_is_no_cost():
    assert Pricing.of(None, TWO_FLAVORS) is None
    assert not Sums.of([None])
    held = capacity([job_demand(job(step(gpu=1)), TWO_FLAVORS)], TWO_FLAVORS)
    assert "cost" not in held.to_json()["jobs"][0]
    assert "perHour" not in held.to_json()

"""Costs as `diff`, `report` and `capacity` tell them, in a repository with prices."""

from __future__ import annotations

import json
import re

import pytest

from support.repositories import Repository
from unit.cli.conftest import job
from unit.cli.test_capacity import FACTS

ENVIRONMENT = """\
apiVersion: trainform.dev/v1alpha1
kind: Environment
metadata: {{name: {name}}}
spec:
  scheduling: {{kueue: {{localQueue: default, maxExecTimeSeconds: 7200}}}}
"""
PRICES = '  prices: {currency: USD, resources: {nvidia.com/gpu: "2.50"}}\n'
OWNER = """\
  runtimePatches:
  - manager: example.com/team
    trainingRuntimeSpec: {template: {metadata: {labels: {owner: search}}}}
"""


@pytest.fixture
def repository(root):
    """Job `kept` of one GPU and `llm` of two, rendered and committed; one GPU costs 2.50 USD."""
    (root / "jobs" / "kept.yaml").write_text(job("kept", 1))
    repository = Repository(root)
    repository.start_git()
    declare(root)
    return repository


def declare(root, name="prod", prices=PRICES):
    folder = root / "environments" / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "environment.yaml").write_text(ENVIRONMENT.format(name=name) + prices)
    (folder / "queues.yaml").write_text(FACTS)


@pytest.fixture
def committed(repository, trainform):
    assert trainform("render").code == 0
    repository.commit()
    return repository.root


def usd(least, most=None):
    return {"min": least, "max": most or least}


def test_diff_tells_what_each_job_and_each_environment_costs(committed, trainform):
    (committed / "jobs" / "llm.yaml").write_text(job("llm", 4))
    (committed / "jobs" / "new.yaml").write_text(job("new", 1))
    out = trainform("diff").out
    assert "then it starts anew; costs 5.00 → 10.00 USD per hour, at most 10.00 → 20.00 USD per run" in out
    assert "new            ml/new in prod: asks for 1 pod, nvidia.com/gpu 1, queue default; " in out
    assert "queue default; costs 2.50 USD per hour, at most 5.00 USD per run" in out
    assert "ENVIRONMENT  COST PER HOUR     DIFFERENCE\nprod         7.50 → 15.00 USD  +7.50 USD\n" in out


def test_diff_in_markdown_and_html(committed, trainform):
    (committed / "jobs" / "llm.yaml").unlink()
    markdown = trainform("diff", "--format", "markdown").out
    assert "queue default; cost 5.00 USD per hour, at most 10.00 USD per run" in markdown
    assert "| prod | 7.50 → 2.50 USD | -5.00 USD |" in markdown
    assert "<td>7.50 → 2.50 USD</td><td>-5.00 USD</td>" in trainform("diff", "--format", "html").out


def test_diff_as_json(committed, trainform):
    (committed / "jobs" / "llm.yaml").write_text(job("llm", 4))
    found = json.loads(trainform("diff", "--format", "json").out)
    assert found["jobs"][0]["cost"] == {
        "before": {"currency": "USD", "perHour": usd("5.00"), "perRunAtMost": "10.00"},
        "after": {"currency": "USD", "perHour": usd("10.00"), "perRunAtMost": "20.00"},
    }
    balance = {"before": usd("7.50"), "after": usd("12.50"), "difference": usd("5.00")}
    assert found["costs"] == {"prod": {"currency": "USD", **balance}}


def test_a_change_in_place_is_not_told_what_it_costs(committed, trainform):
    (committed / "jobs" / "llm.yaml").write_text(job("llm") + OWNER)
    out = trainform("diff").out
    assert "in-place       ml/llm in prod\n" in out
    assert "USD" not in out


@pytest.mark.parametrize("prices", ["", PRICES.replace("2.50", "99"), PRICES.replace("USD", "EUR")])
def test_other_prices_put_no_job_behind_and_are_no_change_of_a_job(committed, trainform, prices):
    declare(committed, prices=prices)
    assert trainform("diff").out == "no job changes\n"
    assert "behind" not in trainform("render").err


def test_capacity(committed, trainform):
    lines = trainform("capacity").out.splitlines()
    assert lines[3:] == [
        "JOB      QUEUE    VERDICT  PER HOUR  PER RUN, AT MOST  REASON",
        "ml/kept  default  fits     2.50 USD  5.00 USD",
        "ml/llm   default  waits    5.00 USD  10.00 USD         node asks nvidia.com/gpu 2; "
        "flavor h100 of ClusterQueue gpu has 1 left beside the jobs before it",
        "",
        "all jobs at once: 7.50 USD per hour",
    ]


def test_capacity_as_json(committed, trainform):
    (found,) = json.loads(trainform("capacity", "--format", "json").out)["environments"].values()
    assert found["jobs"][0]["cost"] == {"currency": "USD", "perHour": usd("2.50"), "perRunAtMost": "5.00"}
    assert found["perHour"] == {"USD": usd("7.50")}


def test_two_currencies_stand_beside_each_other(committed, trainform):
    declare(committed, "eu", '  prices: {currency: EUR, resources: {nvidia.com/gpu: "2"}}\n')
    page = trainform("report").out
    assert re.findall(r"<dt>(\w+) per hour</dt><dd>(.*?)</dd>", page) == [("EUR", "6.00"), ("USD", "7.50")]
    assert '<td class="n cost">6.00 EUR, 7.50 USD</td>' in page


def test_a_report_without_prices_has_no_column_for_them(committed, trainform):
    declare(committed, prices="")
    assert "per hour" not in trainform("report").out


@pytest.mark.parametrize(
    ("prices", "error"),
    [
        ('{currency: usd, resources: {cpu: "1"}}', ':6:22: error TF104 spec.prices.currency: "usd" is not a currency'),
        ("{currency: USD, resources: {cpu: 2.50}}", ":6:44: error TF102 spec.prices.resources.cpu: must be a string"),
        ('{currency: USD, resources: {cpu: "-1"}}', ':6:44: error TF104 spec.prices.resources.cpu: "-1" is not a'),
        ('{currency: USD, flavors: {a: {cpu: "1e3"}}}', ':6:46: error TF104 spec.prices.flavors.a.cpu: "1e3" is not'),
        ('{resources: {cpu: "1"}}', ":6:11: error TF103 spec.prices.currency: is required"),
        ('{currency: USD, gpu: "1"}', ":6:27: error TF101 spec.prices.gpu: unknown field"),
    ],
)
def test_a_wrong_price_is_an_error_at_its_line(committed, trainform, prices, error):
    declare(committed, prices=f"  prices: {prices}\n")
    ran = trainform("validate")
    assert ran.code == 2
    assert f"environments/prod/environment.yaml{error}" in ran.out


def test_the_price_of_an_unknown_flavor_is_a_warning_at_its_line(committed, trainform):
    declare(committed, prices='  prices: {currency: USD, flavors: {h10: {nvidia.com/gpu: "1"}}}\n')
    ran = trainform("validate")
    assert ran.code == 0
    place = "environments/prod/environment.yaml:6:42: warning TF386 spec.prices.flavors.h10: "
    assert f"{place}the cluster has no ResourceFlavor h10, so this price applies to nothing" in ran.out
    assert 'did you mean "h100"?' in ran.out

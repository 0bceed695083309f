"""The fleet, and its page."""

from __future__ import annotations

import json
import re
from importlib.resources import files

import pytest

from trainform.core.cluster.facts import NO_FACTS
from trainform.review.diff.model import Diff, JobDiff
from trainform.review.report.model import Behind, Known, Report, fleet, framework_of, grouped
from trainform.review.report.page import FILES, MOST_CHANGES, render_page
from unit.review.cluster import cluster_queue, facts, flavor, group, job, local_queue, step

EVIL = "</script><script>document.title='run'</script>"
DECLARED = facts(flavor("h100"), cluster_queue("main", group({"h100": {"nvidia.com/gpu": 8}})), local_queue())


def known(
    name="llm", *steps, environment="prod", framework="torch", state="up to date", notes=(), queue="team", template=""
):
    for each in steps:
        pod = each["template"]["spec"]["template"]["spec"]
        pod["restartPolicy"] = "Never"
        pod["containers"][0].setdefault("image", "registry.example.com/llm:1")
    tree = {"apiVersion": "jobset.x-k8s.io/v1alpha2", **job(*steps, name=name, queue=queue)} if steps else None
    return Known((environment, "ml", name), "torch-ours", framework, state, tree, notes, template)


def page(report):
    folder = files("trainform.review.report") / "templates"
    return render_page(report, {name: (folder / name).read_text(encoding="utf-8") for name in FILES})


def data(text):
    (found,) = re.findall(r'id="data">(.*?)</script>', text)
    return json.loads(found)


def test_a_job_is_its_steps_and_what_they_ask_for():
    launcher = step("launcher", 1)
    launcher["dependsOn"] = [{"name": "node", "status": "Ready"}]
    (only,) = fleet("prod", [known("llm", step("node", 4, gpu=8, cpu=32), launcher)], DECLARED).jobs
    assert (only.queue, only.ask.pods, only.gpus) == ("team", 5, 32)
    assert only.steps[0].requests == (("nvidia.com/gpu", "8"), ("cpu", "32"))
    assert only.steps[1].after == (("node", "Ready"),)
    assert only.verdict == "never"


def test_quotas_are_those_of_capacity():
    jobs = [known("a", step(pods=1, gpu=8)), known("b", step(pods=1, gpu=8))]
    found = fleet("prod", jobs, DECLARED)
    (quota,) = found.quotas
    assert (quota.use.asked, quota.use.nominal, quota.is_over) == (16, 8, True)
    assert [each.verdict for each in found.jobs] == ["fits", "waits"]


def test_without_quotas_there_is_no_verdict():
    assert fleet("prod", [known("llm", step(gpu=1))], NO_FACTS).jobs[0].verdict == ""


def test_a_job_without_jobset_is_still_there():
    assert (
        fleet("prod", [known("llm", state="error", notes=("jobs/llm.yaml:1:1 TF101",))], NO_FACTS).jobs[0].steps == ()
    )


@pytest.mark.parametrize(
    ("runtime", "expected"),
    [
        ({"metadata": {"labels": {"trainer.kubeflow.org/framework": "deepspeed"}}}, "deepspeed"),
        ({"spec": {"mlPolicy": {"jax": {}}}}, "jax"),
        ({"spec": {}}, "plain"),
    ],
)
def test_the_framework_of_a_runtime(runtime, expected):
    assert framework_of(runtime) == expected


def test_groups_have_who_asks_most_first():
    jobs = fleet("prod", [known("a", step(gpu=1), framework="jax"), known("b", step(gpu=8))], NO_FACTS).jobs
    assert [(each.key, each.gpus) for each in grouped(jobs, "framework")] == [(("torch",), 8), (("jax",), 1)]


def test_the_order_of_the_input_does_not_matter():
    one, two = known("a", step(gpu=1)), known("b", step(gpu=8))
    assert page(Report((fleet("prod", [one, two], DECLARED),))) == page(Report((fleet("prod", [two, one], DECLARED),)))


def test_every_value_is_escaped():
    tree = step(gpu=1)
    tree["template"]["spec"]["template"]["spec"]["containers"][0]["image"] = EVIL
    jobs = [
        known("llm", tree, framework=EVIL, notes=(EVIL,), queue=EVIL),
        known("bad", environment="prod", notes=(EVIL,)),
    ]
    changed = Diff([JobDiff(("prod", "ml", EVIL), "new")])
    text = page(Report((fleet("prod", jobs, NO_FACTS),), (Behind(EVIL, 1),), (EVIL,), changed, EVIL))
    assert EVIL not in text
    assert text.count("<script") == 2  # the page's own and its data
    assert EVIL in data(text)["texts"]


def test_the_page_loads_nothing():
    text = page(Report((fleet("prod", [known("llm", step(gpu=1))], DECLARED),)))
    assert "default-src 'none'" in text
    assert not re.search(r'(?:src|href)="(?!#)|url\(|@import|fetch\(', text)


def test_a_huge_change_set_is_cut():
    jobs = [JobDiff(("prod", "ml", f"job-{index}"), "restart") for index in range(MOST_CHANGES + 5)]
    text = page(Report((), diff=Diff(jobs), base="main"))
    assert "5 more changes" in text
    assert f"job-{MOST_CHANGES}<" not in text


def test_steps_that_many_jobs_share_are_there_once():
    jobs = [known(f"job-{index}", step(gpu=1)) for index in range(50)]
    told = data(page(Report((fleet("prod", jobs, NO_FACTS),))))
    assert (len(told["jobs"]), len(told["steps"])) == (50, 1)


def test_a_sweep_is_the_jobs_that_one_template_makes_in_one_environment():
    def made(name, **fields):
        return known(name, step(gpu=1), **fields)

    sweep, single = "jobs/sweep.yaml.j2", "jobs/single.yaml.j2"
    prod = [made("a", template=sweep), made("b"), made("c", template=sweep), made("d", template=single)]
    staging = [made(name, template=sweep, environment="staging") for name in ("a", "c")]
    text = page(Report((fleet("prod", prod, NO_FACTS), fleet("staging", staging, NO_FACTS))))
    assert data(text)["sweeps"] == [[sweep, [0, 2]], [sweep, [4, 5]]]
    assert text.count('<th scope="row">ml/') == 6  # without JavaScript, the table has every job


def test_ten_thousand_jobs_of_sweeps_cost_a_few_bytes_each():
    def size(template):
        steps = step(gpu=1)
        jobs = [
            known(f"job-{index}", steps, template=template and f"jobs/{index % 100}.yaml.j2") for index in range(10_000)
        ]
        return len(page(Report((fleet("prod", jobs, NO_FACTS),))))

    assert size("yes") - size("") < 10 * 10_000

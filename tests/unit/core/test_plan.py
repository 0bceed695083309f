"""The plan: what it shares with the inputs stays as it was, and what it tells."""

from __future__ import annotations

from copy import deepcopy

import pytest

from support.golden import golden_cases
from support.streams import compiled, job, replicated_job, runtime
from trainform import Plugin
from trainform.core.catalogue import Catalogue
from trainform.core.compile import compile_documents
from trainform.installed import load_plugins
from trainform.io.resources import shipped_runtimes
from trainform.testing import GoldenCase

CASES = [pytest.param(case, id=str(case)) for case in golden_cases()]


@pytest.mark.parametrize("case", CASES)
def test_no_input_is_changed(case: GoldenCase):
    loaded = case.loaded()
    before = deepcopy([document.tree for document in loaded.documents])
    compile_documents(loaded.documents, catalogue=Catalogue(dict(shipped_runtimes())), plugins=load_plugins())
    assert [document.tree for document in loaded.documents] == before


@pytest.mark.parametrize("name", sorted(Catalogue(dict(shipped_runtimes())).names()))
def test_no_job_changes_the_shipped_runtime_that_it_shares_with_others(name):
    catalogue = Catalogue(dict(shipped_runtimes()))
    shipped = catalogue.get(name)
    assert shipped is not None
    assert shipped.model is not None
    before = deepcopy((shipped.document.tree, shipped.model.model_dump()))
    documents = compiled(job(runtime=name, trainer={"numNodes": 1})).jobs[0].document
    compile_documents([documents], catalogue=catalogue, plugins=load_plugins())
    assert (shipped.document.tree, shipped.model.model_dump()) == before


def seen(*objects):
    """The plans of the jobs among `objects`, as a plugin sees them in the first stage."""
    plans = []
    look = type("Look", (Plugin,), {"name": "look", "validate": lambda self, plan: plans.append(plan)})
    compiled(*objects, plugins=[look()])
    return plans


def test_two_jobs_share_no_container_of_their_runtime():
    one, two = seen(runtime(), job("one"), job("two"))
    assert one.trainer_container == two.trainer_container
    assert one.trainer_container is not two.trainer_container


def test_every_field_of_the_jobset_is_in_one_place():
    (plan,) = seen(runtime(), job())
    assert plan.metadata == {"name": "llm", "namespace": "ml"}
    assert "replicatedJobs" not in plan.spec
    assert [pods.name for pods in plan.pod_sets] == ["node"]


def test_the_trainer_pod_set_is_the_labelled_one():
    worker = replicated_job("worker")
    (plan,) = seen(runtime("rt", replicated_job("cache", ""), worker), job())
    assert plan.trainer_pod_set.name == "worker"
    assert plan.pod_set("cache").step == ""
    assert plan.pod_set("nothing") is None


@pytest.mark.parametrize(
    ("policy", "parallelism", "count"), [({"numNodes": 3}, 2, 3), ({}, 2, 1), (None, 2, 2), (None, None, 1)]
)
def test_pods_are_counted_by_the_policy_else_by_the_parallelism(policy, parallelism, count):
    pods = replicated_job()
    if parallelism:
        pods["template"]["spec"]["parallelism"] = parallelism
    tree = runtime("rt", pods)
    tree["spec"]["mlPolicy"] = policy
    (plan,) = seen(tree, job())
    assert plan.trainer_pod_set.count == count


@pytest.mark.parametrize(("network", "subdomain"), [({}, "llm"), ({"subdomain": "ring"}, "ring")])
def test_the_subdomain_is_that_of_the_network_else_the_job(network, subdomain):
    tree = runtime()
    tree["spec"]["template"]["spec"]["network"] = network
    (plan,) = seen(tree, job())
    assert plan.subdomain == subdomain


def test_a_deviation_is_told_once():
    (plan,) = seen(runtime(), job())
    plan.deviates("D08", "first")
    plan.deviates("D08", "second")
    assert [(d.code, d.severity, d.message) for d in plan.diagnostics[-1:]] == [("TFD08", "info", "first")]
    assert not plan.failed


def test_a_report_speaks_of_the_job_unless_a_place_is_given():
    (plan,) = seen(runtime(), job())
    plan.report("TF313", "of the job", path=("spec",))
    plan.report("TF313", "of the runtime", path=("spec",), place=plan.runtime_document)
    assert [d.place for d in plan.diagnostics[-2:]] == [plan.job_document, plan.runtime_document]
    assert plan.failed

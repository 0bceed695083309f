"""Digests, snapshots, and why a job is behind."""

from __future__ import annotations

import pytest

from support.repositories import environment, job, runtime
from trainform.core.catalogue import Catalogue
from trainform.core.compile import compile_documents
from trainform.installed import load_plugins
from trainform.source import load
from trainform.workspace.fingerprint import Cause, CurrentInputs, Snapshot, digest_of, is_frozen, lock_of

FACT = "apiVersion: v1\nkind: Namespace\nmetadata: {name: ml}\n"
PRICES = '  prices: {currency: USD, resources: {cpu: "0.10"}}\n'
WITHOUT_SPEC = environment().partition("spec:")[0]
ACCOUNT = """\
apiVersion: v1
kind: ServiceAccount
metadata: {name: kubeflow-trainer-torch, annotations: {trainform.dev/companion-of: torch}}
"""


def compiled(*texts):
    documents = load("---\n".join(texts), "x.yaml").documents
    return compile_documents(documents, catalogue=Catalogue(), plugins=load_plugins())


def present(*texts, compiler="1.0", plugins=None, code=None):
    return CurrentInputs(compiler, plugins or {}, code or {}, compiled(*texts, job("llm")).inputs, Catalogue())


def lock(*texts):
    compilation = compiled(*texts)
    return lock_of(compilation.jobs[0], CurrentInputs("1.0", {}, {}, compilation.inputs, Catalogue()), {"a.yaml": b"1"})


NOW = (environment(), runtime())
BOTH = {"acme": "1", "other": "1"}


@pytest.mark.parametrize(
    ("text", "frozen"),
    [
        (job("llm"), True),
        ("# a comment\n" + job("llm"), True),
        (job("llm").replace("kind: TrainJob\n", "") + "kind: TrainJob\n", True),
        (job("llm", nodes=3), False),
    ],
    ids=["same", "comment", "order-of-keys", "nodes"],
)
def test_a_job_is_frozen_while_its_tree_is_the_same(text, frozen):
    (document,) = load(text, "x.yaml").documents
    assert is_frozen(lock(*NOW, job("llm")), document) is frozen


@pytest.mark.parametrize(("one", "other"), [({"a": 1}, {"a": "1"}), ({"a": 1}, {"a": True}), ({"a": None}, {})])
def test_trees_that_differ_have_different_digests(one, other):
    assert digest_of([one]) != digest_of([other])


def test_a_snapshot_is_read_back_as_what_its_name_says():
    trees = [document.tree for document in load("---\n".join(NOW), "x.yaml").documents]
    snapshot = Snapshot.of(trees)
    assert digest_of([each.tree for each in load(snapshot.text, "snapshot").documents]) == snapshot.digest


@pytest.mark.parametrize(
    ("now", "causes"),
    [
        (NOW, []),
        (NOW[::-1], []),
        ((environment(), runtime("other:1")), ["runtime torch changed"]),
        ((environment(),), ["runtime torch is gone"]),
        ((environment(naming="content-hash"), runtime()), ["Environment prod changed"]),
        ((*NOW, FACT), ["Environment prod changed"]),
        ((*NOW, ACCOUNT), ["runtime torch changed"]),
        ((environment() + PRICES, runtime()), []),
        ((WITHOUT_SPEC, runtime()), ["Environment prod changed"]),
        ((runtime(),), ["Environment default changed"]),
        ((environment(layout="per-job"), runtime("other:1")), ["runtime torch changed", "Environment prod changed"]),
    ],
)
def test_a_job_is_behind_what_changed(now, causes):
    assert [cause.message for cause in present(*now).causes(lock(*NOW, job("llm")).pins, "ml")] == causes


def test_a_job_is_behind_another_compiler():
    message = "rendered by trainform 1.0, but this is 1.1"
    found = present(*NOW, compiler="1.1", plugins={"acme": "2"}).causes(lock(*NOW, job("llm")).pins, "ml")
    assert found == [Cause("compiler", "", message)]


@pytest.mark.parametrize(
    ("plugins", "message"),
    [
        ({"acme": "2"}, "plugin package acme changed from 1 to 2"),
        ({}, "plugin package acme 1 is no longer used"),
        ({"acme": "1", "new": "3"}, "plugin package new 3 was added"),
    ],
)
def test_a_job_is_behind_plugins_that_changed(plugins, message):
    pins = lock(*NOW, job("llm")).pins._replace(plugins={"acme": "1"}, plugin_code={"acme": "d1"})
    code = dict.fromkeys(plugins, "d1")
    assert present(*NOW, plugins=plugins, code=code).causes(pins, "ml") == [Cause("compiler", "plugins", message)]


def test_a_job_is_behind_plugin_code_that_changed_without_a_new_version():
    pins = lock(*NOW, job("llm")).pins._replace(plugins=BOTH, plugin_code={"acme": "d1", "other": "d2"})
    assert present(*NOW, plugins=BOTH, code={"acme": "d1", "other": "d2"}).causes(pins, "ml") == []
    (cause,) = present(*NOW, plugins=BOTH, code={"acme": "d3", "other": "d2"}).causes(pins, "ml")
    assert cause.message == "the code of acme changed without a new version"


def test_a_job_is_behind_a_key_that_was_made_anew():
    pins = lock(*NOW, job("llm")).pins._replace(keys={"llm-mpi-ssh-auth": "k1"})
    assert present(*NOW).causes(pins, "ml") == [
        Cause("key", "ml/llm-mpi-ssh-auth", "key Secret ml/llm-mpi-ssh-auth changed")
    ]


def test_a_lock_says_what_a_job_was_rendered_from():
    made = lock(*NOW, job("llm"))
    assert (made.source, made.pins.compiler, made.pins.runtime.name) == ("x.yaml", "1.0", "torch")
    assert list(made.files) == ["a.yaml"]

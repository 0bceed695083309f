"""Kueue's configuration as a fact, against Kueue's documentation of each field."""

from __future__ import annotations

import pytest

from trainform.core.cluster.facts import NO_FACTS, Facts
from trainform.k8s.kueue_configuration import kueue_configuration
from trainform.k8s.pod_requests import format_requests
from trainform.k8s.quantity import parse


def configured(**fields):
    version = fields.pop("apiVersion", "config.kueue.x-k8s.io/v1beta2")
    tree = {"apiVersion": version, "kind": "Configuration", "metadata": {"name": "kueue"}, **fields}
    return kueue_configuration(Facts({("Configuration", "", "kueue"): tree}))


def counted(resources, **requests):
    amounts = {name.replace("_", "/"): parse(amount) for name, amount in requests.items()}
    return format_requests(configured(resources=resources).counted(amounts))


def test_without_the_fact_all_defaults_hold():
    found = kueue_configuration(NO_FACTS)
    assert format_requests(found.counted({"cpu": parse(2)})) == {"cpu": "2"}
    assert (found.ignores_undeclared, found.manages_all, found.pods_ready_timeout) == (False, False, "")
    assert found.manages("team", NO_FACTS) is True
    assert found.manages("kube-system", NO_FACTS) is False


def test_excluded_resources_are_not_counted():
    assert counted({"excludeResourcePrefixes": ["net"]}, net_nic=1, cpu=2) == {"cpu": "2"}


MIG = {"input": "mig", "strategy": "Replace", "outputs": {"gpu-memory": "5Gi", "cpu": 1}}


def test_a_replaced_resource_counts_as_its_outputs():
    assert counted({"transformations": [MIG]}, mig=2, cpu=1) == {"cpu": "3", "gpu-memory": "10Gi"}


def test_a_retained_resource_counts_as_itself_too():
    rule = {"input": "mig", "outputs": {"credits": 3}}
    assert counted({"transformations": [rule]}, mig=2) == {"credits": "6", "mig": "2"}


def test_a_resource_multiplies_the_outputs():
    rule = {"input": "mem", "strategy": "Replace", "outputs": {"total": 1}, "multiplyBy": "gpu"}
    assert counted({"transformations": [rule]}, mem=10, gpu=4) == {"gpu": "4", "total": "40"}
    assert counted({"transformations": [rule]}, mem=10) == {"total": "10"}


@pytest.mark.parametrize(
    ("fields", "timeout"),
    [
        ({}, ""),
        ({"waitForPodsReady": {}}, "5m"),
        ({"waitForPodsReady": {"timeout": "9m"}}, "9m"),
        ({"waitForPodsReady": {"timeout": "9m"}, "apiVersion": "config.kueue.x-k8s.io/v1beta1"}, ""),
        ({"waitForPodsReady": {"enable": True}, "apiVersion": "config.kueue.x-k8s.io/v1beta1"}, "5m"),
        ({"waitForPodsReady": {"enable": False}}, ""),
    ],
)
def test_how_long_it_waits_for_pods(fields, timeout):
    assert configured(**fields).pods_ready_timeout == timeout


def test_a_namespace_selected_by_labels_must_be_declared():
    found = configured(managedJobsNamespaceSelector={"matchLabels": {"kueue": "yes"}})
    declared = {"metadata": {"name": "team", "labels": {"kueue": "yes"}}}
    assert found.manages("team", NO_FACTS) is None
    assert found.manages("team", Facts({("Namespace", "", "team"): declared})) is True
    assert found.manages("team", Facts({("Namespace", "", "team"): {"metadata": {"name": "team"}}})) is False

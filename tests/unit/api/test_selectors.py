"""Selectors of labels in both forms, and patterns of paths."""

from __future__ import annotations

import re
import time

import pytest

from trainform.api.selectors import LabelSelector, matches_labels, matches_path

LABELS = {"team": "vision", "stage": "prod", "empty": ""}


@pytest.mark.parametrize(
    ("selector", "selected"),
    [
        ({}, True),
        ({"matchLabels": {"team": "vision"}}, True),
        ({"matchLabels": {"team": "vision", "stage": "dev"}}, False),
        ({"matchLabels": {"absent": ""}}, False),
        ({"matchExpressions": [{"key": "team", "operator": "In", "values": ["nlp", "vision"]}]}, True),
        ({"matchExpressions": [{"key": "absent", "operator": "In", "values": ["a"]}]}, False),
        ({"matchExpressions": [{"key": "team", "operator": "NotIn", "values": ["vision"]}]}, False),
        ({"matchExpressions": [{"key": "absent", "operator": "NotIn", "values": ["a"]}]}, True),
        ({"matchExpressions": [{"key": "empty", "operator": "Exists"}]}, True),
        ({"matchExpressions": [{"key": "absent", "operator": "Exists"}]}, False),
        ({"matchExpressions": [{"key": "absent", "operator": "DoesNotExist"}]}, True),
        ({"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]}, False),
        (
            {"matchLabels": {"team": "vision"}, "matchExpressions": [{"key": "x", "operator": "Exists"}]},
            False,
        ),
    ],
)
def test_a_label_selector_selects_what_kubernetes_would(selector, selected):
    assert matches_labels(LabelSelector.model_validate(selector), LABELS) is selected


@pytest.mark.parametrize(
    ("selector", "selected"),
    [
        ("", True),
        ("team=vision", True),
        ("team==vision", True),
        ("team = vision , stage != dev", True),
        ("team!=vision", False),
        ("absent!=a", True),
        ("stage in (dev, prod)", True),
        ("stage in (dev,prod),team notin (vision)", False),
        ("absent notin (a)", True),
        ("team", True),
        ("absent", False),
        ("!absent", True),
        ("! team", False),
        ("empty=", True),
        ("example.com/a!=b", True),
    ],
)
def test_a_selector_in_text_is_read_as_kubectl_does(selector, selected):
    assert matches_labels(selector, LABELS) is selected


@pytest.mark.parametrize(
    ("selector", "why"),
    [
        ("a,", "expected a condition"),
        (",a", "expected a condition"),
        ("a,,b", "expected a condition"),
        ("a in (b", "expected a condition"),
        ("a b", "must have the form a=b, a!=b"),
        ("!a=b", "must have the form a=b, a!=b"),
        ("a in b", "must have the form a=b, a!=b"),
        ("-a=b", 'the key "-a"'),
        ("a=b!", "must have the form a=b, a!=b"),
        ("a in (b c)", 'the value "b c"'),
    ],
)
def test_a_selector_that_cannot_be_read_says_why(selector, why):
    with pytest.raises(ValueError, match=re.escape(why)):
        matches_labels(selector, {})


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("jobs/llm.yaml", "jobs/llm.yaml", True),
        ("jobs/llm.yaml", "a/jobs/llm.yaml", False),
        ("jobs/llm.yaml", "jobs/llm.yaml.j2", False),
        ("jobs", "jobs/llm.yaml", False),
        ("jobs/", "jobs/team/llm.yaml", True),
        ("./jobs/**", "jobs/llm.yaml", True),
        ("jobs/**", "jobs/llm.yaml", True),
        ("jobs/**", "jobs/team/a/llm.yaml", True),
        ("jobs/**", "jobs", False),
        ("jobs/**", "jobs2/llm.yaml", False),
        ("**", "llm.yaml", True),
        ("**/llm.yaml", "llm.yaml", True),
        ("**/llm.yaml", "jobs/team/llm.yaml", True),
        ("**/llm.yaml", "jobs/xllm.yaml", False),
        ("jobs/**/llm.yaml", "jobs/llm.yaml", True),
        ("jobs/**/llm.yaml", "jobs/a/b/llm.yaml", True),
        ("jobs/*/llm.yaml", "jobs/team/llm.yaml", True),
        ("jobs/*/llm.yaml", "jobs/llm.yaml", False),
        ("jobs/*/llm.yaml", "jobs/a/b/llm.yaml", False),
        ("jobs/*.yaml", "jobs/.yaml", True),
        ("jobs/*.yaml", "jobs/a/b.yaml", False),
        ("jobs/?.yaml", "jobs/a.yaml", True),
        ("jobs/?.yaml", "jobs/ab.yaml", False),
        ("jobs?a.yaml", "jobs/a.yaml", False),
        ("jobs/[a-c].yaml", "jobs/b.yaml", True),
        ("jobs/[!a-c].yaml", "jobs/b.yaml", False),
        ("jobs/[!a-c].yaml", "jobs/x.yaml", True),
        ("jobs[!a]x", "jobs/x", False),
        ("jobs/[]].yaml", "jobs/].yaml", True),
        ("jobs/[a.yaml", "jobs/[a.yaml", True),
        ("jobs/[].yaml", "jobs/[].yaml", True),
        ("jobs/[!].yaml", "jobs/[!].yaml", True),
        ("jobs/a+(b).yaml", "jobs/a+(b).yaml", True),
        ("Jobs/**", "jobs/llm.yaml", False),
    ],
)
def test_a_pattern_fits_a_whole_path(pattern, path, fits):
    assert matches_path([pattern], path) is fits


def test_one_of_several_patterns_is_enough():
    assert matches_path(["a/**", "b/**"], "b/c.yaml")
    assert not matches_path([], "b/c.yaml")


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a" * 40 + "*c", "a" * 200 + "b"),
        ("a*" * 40 + "b", "a" * 200),
        ("*" * 40 + "b", "a" * 200),
        ("*?" * 40 + "b", "a" * 200),
        ("**/" * 40 + "b", "a/" * 99 + "aa"),
        ("**/a/" * 20 + "b", "a/" * 99 + "aa"),
        ("**/*a*/" * 20 + "b", "a/" * 99 + "aa"),
    ],
)
def test_a_pattern_of_many_wildcards_takes_no_time(pattern, path):
    start = time.process_time()
    assert not matches_path([pattern], path)
    assert time.process_time() - start < 0.1

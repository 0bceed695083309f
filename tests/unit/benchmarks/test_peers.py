"""What peers start from is made of a rendered JobSet."""

from __future__ import annotations

import json

import yaml

from benchmarks.generate import PREFIX
from benchmarks.peers import LABELS, NODES, SENTINELS, chart, jsonnet_of, unfinished

JOBSET = f"""\
kind: JobSet
metadata:
  name: {PREFIX}a
{LABELS}spec:
  parallelism: 2
  name: {PREFIX}a-0
"""


def test_kustomize_starts_without_what_it_adds():
    tree = yaml.safe_load(unfinished(JOBSET))
    assert tree == {"kind": "JobSet", "metadata": {"name": "a"}, "spec": {"parallelism": 2, "name": f"{PREFIX}a-0"}}


def test_a_template_of_helm_has_values_for_sentinels():
    files = dict(chart(f'name: {SENTINELS["name"]}\nnodes: {NODES}\nquoted: "{NODES}"\n', [{"name": "a"}]))
    assert 'name: {{ .name }}\nnodes: {{ .nodes }}\nquoted: "{{ .nodes }}"\n' in files["chart/templates/jobs.yaml"]
    assert json.loads(files["chart/values.yaml"]) == {"jobs": [{"name": "a"}]}


def test_an_expression_of_jsonnet_has_values_for_sentinels():
    tree = {"n": NODES, "text": f"x-{SENTINELS['name']}-y", "list": [1, "z"]}
    assert jsonnet_of(tree) == '{"n": job.nodes, "text": "x-" + job.name + "-y", "list": [1, "z"]}'

"""Templates: what they render, what they cannot do, and problems at the line that is to be changed."""

from __future__ import annotations

import subprocess
import sys

import pytest

from trainform.api import read
from trainform.diagnostics import dotted
from trainform.source.templates.load import load_template, render_template

VALUES = {
    "registry": "registry.example.com",
    "gpus": 8,
    "teams": ["nlp", "vision"],
    "labels": {"team": "vision", "stage": "prod"},
    "nothing": None,
    "on": True,
    "ratio": 0.5,
}


def rendered(template: str) -> str:
    result, problems = render_template(template, "a.yaml.j2", VALUES)
    assert problems == []
    return result.text


def told(template: str) -> list[tuple[str, int, int]]:
    """Code, line and column of each problem."""
    _, problems = render_template(template, "a.yaml.j2", VALUES)
    return [(problem.code, *(problem.position or ())) for problem in problems]


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("no expression at all", "no expression at all"),
        ("{{ env.registry }}/train:1\n", "registry.example.com/train:1\n"),
        ("{{ env['registry'] }}", "registry.example.com"),
        ("{{ env.teams[0] }} {{ env.teams[-1] }} {{ env.teams[1:] }}", 'nlp vision ["vision"]'),
        ("{{ env.gpus * 2 }} {{ env.gpus // 3 }} {{ 2 ** 10 }} {{ env.ratio }}", "16 2 1024 0.5"),
        ("{{ env.nothing }} {{ env.on }} {{ not env.on }}", "null true false"),
        ("{{ env.labels }}", '{"team": "vision", "stage": "prod"}'),
        ("{{ env.registry ~ '/' ~ env.gpus }}", "registry.example.com/8"),
        ("{{ env.absent | default('none') }} {{ env.absent is defined }}", "none false"),
        ("{{ 'yes' if env.gpus > 4 else 'no' }}{{ 'more' if env.gpus > 8 }}", "yes"),
        ("{{ env.registry | upper | replace('.', '-') }}", "REGISTRY-EXAMPLE-COM"),
        ("{{ env.registry | tojson }} {{ '<é>' | tojson }}", '"registry.example.com" "<é>"'),
        ("{{ env.teams | map('upper') | join(', ') }}", "NLP, VISION"),
        ("{{ env.teams | reverse }} {{ [3, 1, 1] | unique | sort }}", '["vision", "nlp"] [1, 3]'),
        ("{{ env.teams | reject('equalto', 'nlp') | first }} {{ 'nlp' in env.teams }}", "vision true"),
        ("{{ 'a\nb' | indent(2) }}", "a\n  b"),
        ("{% for lr in [1e-4, 0.0003, 3e-5] %}{{ lr | dns }} {% endfor %}", "1e-4 3e-4 3e-5 "),
        (
            "{% for lr in [0.5, 0.05, 0.001, 1.5e-4, 2.0, 1e5] %}{{ lr | dns }} {% endfor %}",
            "0-5 0-05 1e-3 1-5e-4 2 1e5 ",
        ),
        ("{{ 100000 | dns }} {{ -1 | dns }} {{ -0.5 | dns }} {{ -0.0 | dns }}", "100000 minus-1 minus-0-5 0"),
        ("{{ 'Qwen/Qwen2.5_7B ' | dns }} {{ true | dns }}", "qwen-qwen2-5-7b true"),
        (
            "{% for team in env.teams %}\n- {{ loop.index }} {{ team }}\n{% endfor %}\nend",
            "- 1 nlp\n- 2 vision\nend",
        ),
        (
            "{% for key, value in env.labels | items %}{{ key }}={{ value }} {% endfor %}",
            "team=vision stage=prod ",
        ),
        ("{% for n in range(3) if n %}{{ n }}{% endfor %}", "12"),
        ("a\n  {% if env.on %}\n  b\n  {% endif %}\nc", "a\n  b\nc"),
        ("{% set x %}{{ env.gpus }}!{% endset %}{{ x }}{% with y = 1 %}{{ y }}{% endwith %}", "8!1"),
        ("{% macro m(a, b=2) %}{{ a }}{{ b }}{% endmacro %}{{ m(1) }} {{ m(3, b=4) }}", "12 34"),
        ("{% macro m() %}<{{ caller() }}>{% endmacro %}{% call m() %}x{% endcall %}", "<x>"),
        ("{% filter upper %}a{{ env.gpus }}{% endfilter %}", "A8"),
        ("{% raw %}{{ x }}{% endraw %}{# a comment #}", "{{ x }}"),
    ],
)
def test_a_template_renders(template, text):
    assert rendered(template) == text


@pytest.mark.parametrize(
    "expression",
    [
        "env.__class__",
        "''.__class__.__mro__",
        "env['__class__']",
        "env.teams | map(attribute='__class__') | list",
        "env.registry.upper()",
        "env.registry.format(1)",
        "env.labels.items()",
        "env.teams.append(1)",
        "(1).__add__",
        "range.__init__",
        "self",
        "self.x",
        "range",
        "range(2).index",
        "cycler",
        "joiner()",
        "lipsum()",
        "dict(a=1)",
        "namespace(a=1)",
        "env | attr('items')",
        "env | random",
        "env | pprint",
        "'%s' | format(1)",
        "'%s' % 1",
        "env is callable",
        "env.registry()",
        "f(*env.teams)",
    ],
)
def test_python_is_out_of_reach(expression):
    [(code, line, _)] = told(f"a: 1\nb: {{{{ {expression} }}}}\n")
    assert code in ("TF014", "TF015")
    assert line == 2


@pytest.mark.parametrize(
    "statement",
    [
        "{% include 'a' %}",
        "{% import 'a' as a %}",
        "{% from 'a' import b %}",
        "{% extends 'a' %}",
        "{% block a %}{% endblock %}",
        "{% autoescape true %}{% endautoescape %}",
        "{% set env.a = 1 %}",
        "{% for a in env.teams recursive %}{% endfor %}",
    ],
)
def test_a_template_is_one_file_that_only_reads(statement):
    assert [code for code, _, _ in told(statement)] == ["TF015"]


DOUBLING = {
    "concatenation": "{% set a = a ~ a %}",
    "addition": "{% set a = a + a %}",
    "lists": "{% set a = [a, a] %}",
    "tuples": "{% set a = (a, a) %}",
    "blocks": "{% set a %}{{ a }}{{ a }}{% endset %}",
    "join": "{% set a = [a, a] | join %}",
    "replace": "{% set a = a | replace('x', 'xx') %}",
}


@pytest.mark.parametrize(
    "template",
    [
        "{% for a in range(10**9) %}{% endfor %}",
        "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
        "{% set b = range(9999) %}{% for a in b %}{% if a in b %}{% endif %}{% endfor %}",
        "{% set b = range(9999) %}{% for a in b %}{% set c = b[1:] %}{% endfor %}",
        "{{ 'x' * 10**9 }}",
        "{{ 10**9 * 'x' }}",
        "{{ [0] * 10**9 }}",
        "{{ 10 ** 10 ** 10 }}",
        "{{ 2 ** 63 }}",
        "{{ 9223372036854775807 + 1 }}",
        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
        "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(40) }}",
        "{{ range(9999) | join('x' * 9999) }}",
        "{{ ('x' * 9999) | replace('x', 'y' * 99999) }}",
        "{{ ('\n' * 999999) | indent(200) }}",
        "{% for a in range(5000) %}{{ 'x' * 1000 }}{% endfor %}",
        "{{ " + "(" * 5000 + " }}",
        "{% for a in [1] %}" * 30 + "{% endfor %}" * 30,
        "{" * 200_000,
        *(f"{{% set a = 'x' %}}{line * 60}{{{{ a }}}}" for line in DOUBLING.values()),
        f"{{% set a = 'x' %}}{DOUBLING['lists'] * 60}{{{{ a == a | list }}}}",
    ],
)
def test_work_and_size_are_bounded(template):
    assert [code for code, _, _ in told(template)] == ["TF004"]


@pytest.mark.parametrize(
    ("template", "problem"),
    [
        ("a: 1\n{% if x %}\n", ("TF013", 2, 1)),
        ("a: {{ env.gpus }\n", ("TF013", 1, 1)),
        ("a: 1\n{% do x %}\n", ("TF013", 2, 1)),
        ("a: 1\n  b: {{ env.registri }}\n", ("TF014", 2, 13)),
        ("a: {{ registry }}", ("TF014", 1, 7)),
        ("a: {{ env.labels.taem }}", ("TF014", 1, 18)),
        ("a: {{ env.absent.x }}", ("TF014", 1, 11)),
        ("a: {{ env.teams[5] }}", ("TF014", 1, 17)),
        ("{% for a in env.absent %}{% endfor %}", ("TF014", 1, 17)),
        ("{% if env.absent %}{% endif %}", ("TF014", 1, 11)),
        ("a:\n- {{ env.teams | rndom }}", ("TF015", 2, 18)),
        ("a: 1\n\n  b: {{ 1 / 0 }}", ("TF016", 3, 3)),
        ("{{ [1] + 1 }}", ("TF016", 1, 1)),
        ("{{ 1 | dictsort }}", ("TF016", 1, 1)),
        ("{{ 1[:2] }}", ("TF014", 1, 1)),
        ("{{ env.teams['a':] }}", ("TF016", 1, 1)),
        ("{% for x in 5 %}{% endfor %}", ("TF016", 1, 1)),
        ("{{ 1e308 * 10 }}", ("TF016", 1, 1)),
        ("{% macro m() %}\n{{ env.absent }}\n{% endmacro %}\n\n{{ m() }}", ("TF014", 2, 8)),
    ],
)
def test_a_problem_is_told_at_its_line(template, problem):
    assert told(template) == [problem]


def test_missing_names_are_told_all_at_once():
    assert told("a: {{ env.b }}\nc: {{ env.d }}\n{{ e }}") == [
        ("TF014", 1, 11),
        ("TF014", 2, 11),
        ("TF014", 3, 4),
    ]


@pytest.mark.parametrize(
    ("template", "hint"),
    [
        ("{{ env.registri }}", 'did you mean "env.registry"?'),
        ("{{ env.zzz }}", "add it to spec.values in the Environment"),
        ("{{ registry }}", "templates can only use env: write env.registry"),
        ("{{ env.labels.taem }}", 'did you mean "team"?'),
        ("{{ env.labels.items() }}", "write … | items"),
        ("{{ env | uper }}", 'did you mean "upper"?'),
    ],
)
def test_a_hint_says_what_to_write(template, hint):
    [problem] = render_template(template, "a.yaml.j2", VALUES)[1]
    assert problem.hint == hint


JOBS = """{# one job for each team #}
{% for team in env.teams %}
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: "{{ team }}", labels: {team: "{{ team }}", size: 12}}
spec:
  {%- if team == "vision" %}

  suspnd: true
  {%- endif %}

  runtimeRef: {name: torch}
  trainer:
    image: {{ env.registry }}/train:1
    env:
    {% filter indent(4, true) %}
- {nmae: A}
    {% endfilter %}
{% endfor %}
"""


def test_places_of_documents_are_those_of_the_template():
    loaded = load_template(JOBS, "jobs.yaml.j2", VALUES)
    assert loaded.diagnostics == []
    found = [problem for document in loaded.documents for problem in read(document).diagnostics]
    places = {(problem.code, dotted(problem.path), *(problem.position or ())) for problem in found}
    assert places == {
        ("TF102", "metadata.labels.size", 6, 67),
        ("TF101", "spec.suspnd", 10, 3),
        ("TF101", "spec.trainer.env[0].nmae", 17, 1),
        ("TF103", "spec.trainer.env[0].name", 17, 1),
    }
    assert {problem.file for problem in found} == {"jobs.yaml.j2"}
    assert loaded.documents[1].line(10) == "  suspnd: true"


@pytest.mark.parametrize(
    ("template", "place"),
    [
        ("a: 1\n{% if env.on %}\n{% endif %}\n\tb: 1\n", (4, 1)),
        ("a: 1\nb: {{ env.teams }} x\n", (2, 20)),
        ("{% for team in env.teams %}\na: 1\n{% endfor %}\n", (2, 1)),
    ],
)
def test_yaml_that_is_wrong_once_rendered_is_told_in_the_template(template, place):
    [problem] = load_template(template, "a.yaml.j2", VALUES).diagnostics
    assert problem.position == place


@pytest.mark.parametrize(
    ("template", "lines"),
    [
        ("a\nb\n", (1, 2, 3)),
        ("{# x\n y #}\na\n", (3, 4)),
        ("{% for t in env.teams %}\na\nb\n{% endfor %}\nc", (2, 3, 2, 3, 5)),
        ("a\n  {%- if env.on %}\n\n  b\n  {%- endif %}\n\nc", (1, 4, 7)),
        ("{% macro m() %}\nx\ny\n{% endmacro %}\n{{ m() }}z", (5, 5, 5)),
        ("{% set a %}\nx\n{% endset %}\nb: {{ env.gpus }}\n{{ a }}", (4, 5, 5)),
    ],
)
def test_each_rendered_line_knows_the_line_that_wrote_it(template, lines):
    assert render_template(template, "a.yaml.j2", VALUES)[0].lines == lines


def test_windows_line_ends_count_as_one():
    assert told("a: 1\r\nb: {{ env.x }}\r\n") == [("TF014", 2, 11)]


def test_what_is_no_text_is_told_as_for_any_file():
    assert [d.code for d in load_template(b"\xff\xfe", "a.yaml.j2", {}).diagnostics] == ["TF002"]


def test_values_are_left_as_they_were():
    values = {"a": [1]}
    render_template("{{ env.a + [2] }}{% set a = env.a %}", "a.yaml.j2", values)
    assert values == {"a": [1]}


def test_jinja_is_imported_only_where_there_is_something_to_render():
    code = (
        "import sys; from trainform.source.templates.load import load_template; load_template('a: 1', 'a.yaml.j2', {});"
        "print('jinja2' in sys.modules); load_template('a: {{ 1 }}', 'a.yaml.j2', {});"
        "print('jinja2' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.split() == ["False", "True"]

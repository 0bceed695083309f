"""The usual mistakes in YAML, each with its place, plain words and a hint."""

from __future__ import annotations

import pytest

from trainform.source import load

QUOTES = "put the value in quotes"
WHOLE = "put the whole value in quotes"
DEEPER = "indent it like its neighbors, or two spaces more than the line above"
TEMPLATE = "put the template expression in quotes, or rename the file to .yaml.j2 to render it"

RENAME = "rename the file to .yaml.j2 to render it"
CHART = "render the chart first, with helm template"
MISTAKES = [
    ("a:\n\tb: 1", (2, 1), "a tab cannot indent YAML", "indent with spaces"),
    ("a: 1\n\tb: 2", (2, 1), "a tab cannot indent YAML", "indent with spaces"),
    ("a: >-\n\tx", (2, 1), "a tab cannot indent YAML", "indent with spaces"),
    ("a: b: c", (1, 5), 'a plain value cannot contain ": "', WHOLE),
    ("a: 1\nb:2\nc: 3", (2, 2), 'a space is missing after "b:"', "write b: 2"),
    ("a:1\nb: 2", (1, 2), 'a space is missing after "a:"', "write a: 1"),
    ("- a:1\n  b: 2", (1, 4), 'a space is missing after "a:"', "write a: 1"),
    ("a: 1\nb\nc: 2", (2, 1), '"b" is not a key: it has no colon', None),
    ("a: @x", (1, 4), "a plain value cannot start with @", QUOTES),
    ("a: `x`", (1, 4), "a plain value cannot start with `", QUOTES),
    ("a: %x", (1, 4), "a plain value cannot start with %", QUOTES),
    ("a: ]", (1, 4), "a plain value cannot start with ]", QUOTES),
    ("a: *.py", (1, 4), "* must be followed by the name of an alias", QUOTES),
    ("a: *x", (1, 4), "there is no anchor &x above this alias", None),
    ("a: & b", (1, 4), "& must be followed by the name of an anchor", QUOTES),
    ("a: !x!y z", (1, 4), "unknown tag after !", QUOTES),
    ("a: {{ x }}-y", (1, 11), '"-y" follows the end of the value', TEMPLATE),
    (
        "{% if x %}\na: 1\n{% endif %}",
        (1, 1),
        "this is a template, not YAML",
        "rename the file to .yaml.j2 to render it",
    ),
    ("a: 1\n  {{ if x }}\nb: c: d", (2, 3), "this is a template, not YAML", RENAME),
    (
        "{{ $w := .Values.work }}\na: 1",
        (1, 1),
        "this is a Helm template, not YAML",
        "render the chart first, with helm template",
    ),
    ("a:\n  b: 1\n c: 2", (3, 2), "the indentation of this line matches no line above", DEEPER),
    ("a: b\n  c: d", (2, 3), "this line is indented too far", DEEPER),
    ("a: 1\n- b", (2, 1), "expected a key, found a list item", None),
    ("- a\nb: 1", (2, 1), "expected a list item, but this line does not start with -", None),
    ("a: - b", (1, 4), "a list cannot start on the same line as its key", None),
    ("a: ? b", (1, 4), "a plain value cannot start with a single ?", QUOTES),
    ("a: 'x\nb: 1", (1, 4), "the string that starts here with ' is not closed", "close it with '"),
    ('a: "x\n---\nb: 1', (1, 4), 'the string that starts here with " is not closed', 'close it with "'),
    ("a: 'it's'", (1, 8), '"s\'" follows the end of the value', None),
    ('a: "x" y', (1, 8), '"y" follows the end of the value', WHOLE),
    ("a: [b]]", (1, 7), '"]" follows the end of the value', "remove it, or open it before"),
    ("a: [1, 2\nb: 3", (1, 4), "the [ that starts here is not closed", None),
    (
        'a: ["echo "hi""]',
        (1, 12),
        '"hi""]" follows the end of the value',
        r'put a comma between entries, or write \" for " within double quotes',
    ),
    (
        "a: ['it's']",
        (1, 9),
        '"s\']" follows the end of the value',
        "put a comma between entries, or write '' for ' within single quotes",
    ),
    (
        "a:\n  - b\n  -c",
        (3, 3),
        "a list item needs a space after its dash",
        'write "- c", or "- -c" if this dash is part of the text',
    ),
    ("a: {b: 1", (1, 4), "the { that starts here is not closed", None),
    ("a: [", (1, 4), "the [ that starts here is not closed", None),
    (
        r'a: "\d"',
        (1, 5),
        r"\d is not a valid escape in a double-quoted string",
        r"write \\ for \, or use single quotes",
    ),
    (
        r'a: "\xZZ"',
        (1, 5),
        r"\x is not a valid escape in a double-quoted string",
        r"write \\ for \, or use single quotes",
    ),
    ("a: | x\n  y", (1, 6), "text cannot follow | on the same line", None),
    ("%x: 1", (1, 1), "a line that starts with % must be a YAML directive", None),
    ("--- a: 1", (1, 5), "a mapping cannot start after ---", "start it on the next line"),
    ("{a: 1}\n{b: 2}", (2, 1), "the document ended above, but more text follows", None),
]


@pytest.mark.parametrize(("text", "position", "message", "hint"), MISTAKES, ids=[repr(m[0]) for m in MISTAKES])
def test_a_mistake_is_explained_where_it_stands(text, position, message, hint):
    found = load(text, "f.yaml").diagnostics[0]
    assert (found.code, found.severity, found.file) == ("TF001", "error", "f.yaml")
    assert (found.position, found.message) == (position, message)
    assert found.hint == hint or (hint is None and found.hint)


def test_places_count_from_the_start_of_the_file():
    (found,) = load("# é😀\na: 1\n---\nb: 2\n---\nc: é @ x: y\n", "f.yaml").diagnostics
    assert found.position == (6, 9)
    assert found.place
    assert found.place.line(6) == "c: é @ x: y"


CHOOSE = "keep one side and delete the three markers"


@pytest.mark.parametrize(
    ("text", "code", "at", "message", "hint"),
    [
        ("a: 1\n<<<<<<< HEAD\nb: 1\n=======\n", "TF001", (2, 1), "<<<<<<< marks an unresolved merge conflict", CHOOSE),
        ("a: 1\n=======\nb: 2\n>>>>>>> x\n", "TF001", (2, 1), "======= marks an unresolved merge conflict", CHOOSE),
        ("```yaml\na: 1\n```\n", "TF001", (1, 1), "``` is Markdown, not YAML", None),
        ("a: 1\n----\nb: 1\n", "TF001", (2, 1), "this line does not separate documents", None),
        ("a: {}\n  ---\nb: 1\n", "TF001", (2, 3), "this line does not separate documents", None),
        ("a: {\n  b:\u00a04\n", "TF003", (2, 5), "a no-break space (U+00A0) is not a space in YAML", None),
        ("a: 1\n\u00a0\u00a0b: 1\n  c: 1\n", "TF003", (2, 1), "a no-break space (U+00A0) is not a space in YAML", None),
        ("a：4\nb: 2\n", "TF003", (1, 2), "a fullwidth colon (U+FF1A) is not the YAML character :", None),
        ("---\n\ufeffa: 1\nb: 1\n", "TF003", (2, 1), "a byte order mark (U+FEFF) is in the middle of the file", None),
    ],
)
def test_what_got_in_by_accident_is_called_by_its_name(text, code, at, message, hint):
    [problem] = load(text, "a.yaml").diagnostics
    assert (problem.code, problem.position, problem.message) == (code, at, message)
    assert problem.hint == (hint or problem.hint) != ""


@pytest.mark.parametrize("text", ['a: "10\u00a0€"\nb c\nd: 1\n', "a: '```'\nb c\nd: 1\n"])
def test_what_is_meant_is_no_accident(text):
    [problem] = load(text, "a.yaml").diagnostics
    assert problem.message == '"b c" is not a key: it has no colon'

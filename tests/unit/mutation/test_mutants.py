"""Mutants are whole modules with one fault each; what only people and type checkers read is left alone."""

from __future__ import annotations

import pytest

from mutation.__main__ import _file
from mutation.mutants import mutants, sample, statements_of_functions
from mutation.table import PROJECT, TESTS
from support.golden import ROOT


def faults(source: str) -> list[str]:
    return [mutant.what.replace("  →  ", " → ") for mutant in mutants(source)]


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("x = a == b", "a == b → a != b"),
        ("x = a in b", "a in b → a not in b"),
        ("x = a < b", "a < b → a <= b"),
        ("x = a and b", "a and b → a or b"),
        ("x = a and b", "a and b → b"),
        ("x = not a", "not a → a"),
        ("x = a + b", "a + b → a - b"),
        ("x = 1", "1 → 2"),
        ("x = 'a'", "'a' → 'aX'"),
        ("x = True", "True → False"),
        ("x = a if b else c", "a if b else c → c"),
        ("x = (a, b)", "(a, b) → (b,)"),
        ("f(a)", "f(a) → pass"),
        ("if a:\n    f()", "if a:\n    f() → if not a:\n    f()"),
        ("def f():\n    return a", "return a → return None"),
    ],
)
def test_each_kind_of_fault_is_made(source, fault):
    assert fault in faults(source)


@pytest.mark.parametrize(
    "source",
    [
        "'''Text.'''",
        "x: dict[str, int]",
        "__all__ = ['a', 'b']",
        "Kind = Literal['a', 'b']",
        "@dataclass(frozen=True, slots=True)\nclass A: pass",
        "x = zip(a, b, strict=True)",
        "class A:\n    '''Text.'''",
        "def f(a: A[1, 2]) -> B[1, 2]: pass",
        "from a import b",
        "if TYPE_CHECKING:\n    from a import b",
    ],
)
def test_what_never_runs_is_left_alone(source):
    assert faults(source) == []


def test_a_mutant_differs_in_one_place():
    source = "a = 1\nb = 1\n"
    assert [mutant.source for mutant in mutants(source)] == ["a = 2\nb = 1", "a = 1\nb = 2"]
    assert [mutant.line for mutant in mutants(source)] == [1, 2]


def test_a_line_of_a_function_belongs_to_the_innermost_statement():
    source = "a = 1\n\ndef f(b=1):\n    if b:\n        c = (\n            2\n        )\n    return c\n"
    found = statements_of_functions(source)
    assert sorted(found) == [4, 5, 6, 7, 8]
    assert {line: [*found[line]] for line in (6, 8)} == {6: [5, 6, 7], 8: [8]}


def test_a_sample_is_the_same_in_every_run():
    source = "\n".join(f"x{number} = {number}" for number in range(50))
    assert sample(source, 5, 1) == sample(source, 5, 1)
    assert sample(source, 5, 1) != sample(source, 5, 2)
    assert len(sample(source, 500, 1)) == 50


@pytest.mark.parametrize("module", TESTS)
def test_the_table_names_files_that_are_there(module):
    assert _file(module).is_file()
    for path in TESTS[module]:
        assert (ROOT.parent / path.partition("::")[0]).exists()


@pytest.mark.parametrize("named", sorted({each for tests in TESTS.values() for each in tests}))
def test_the_table_names_tests_that_exist(named):
    file, _, function = named.partition("::")
    path = PROJECT / file
    assert path.exists()
    name, _, _ = function.partition("[")  # one case of a parametrized test
    assert not function or f"\ndef {name}(" in path.read_text()

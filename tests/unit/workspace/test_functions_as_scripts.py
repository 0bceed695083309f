"""A function of a running program becomes a script: nothing of its source is lost, and its arguments are the same."""

from __future__ import annotations

import functools
import math
import runpy
import sys
from collections import OrderedDict
from enum import Enum
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from trainform.workspace.new_job.function import CannotCarry
from trainform.workspace.new_job.literals import literal
from trainform.workspace.new_job.live import script_of_function

RATE = 0.1
TEXT = "$HOME ${HOME} `date` \\ \\n $$ EOM 'single' \"double\" é \u2028 \N{SNOWMAN}"


def plain(rate: float = 0.1, *, name: str = "") -> tuple[float, str]:
    """$HOME `date` \\ EOM"""
    text = "$HOME ${HOME} `date` \\ \\n $$ EOM 'single' \"double\" é \N{SNOWMAN}"
    return rate, text + name


def defined_in_a_block() -> Any:
    if True:

        def nested(name: str = "") -> str:
            return f"""
first
  {name}
"""

    return nested


def counting() -> Any:
    global counter
    counter = 1  # type: ignore[name-defined]
    return counter  # type: ignore[name-defined]


def outside() -> float:
    return RATE


def closing(value: int) -> Any:
    def inner() -> int:
        return value

    return inner


@functools.cache
def cached() -> None: ...


def decorating(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper() -> None:
        function()

    return wrapper


@decorating
def decorated() -> None: ...


async def later() -> None: ...


def yielding() -> Any:
    print("never, when it is only called")
    yield 1


def with_a_generator_inside() -> list[int]:
    def steps() -> Any:
        yield from (1, 2)

    return [*steps()]


class Thing:
    def method(self) -> None: ...

    def __call__(self) -> None: ...


def annotated(where: Path | None = None) -> Path | None:
    """This module postpones the evaluation of annotations, so a script of it must, too."""
    return where


class Color(Enum):
    RED = 1


def returned(folder: Path, text: str, call: str) -> Any:
    """What the function returns when the script runs."""
    (folder / "script.py").write_text(text.replace(f"    {call}(", f"    result = {call}("), encoding="utf-8")
    return runpy.run_path(str(folder / "script.py"), run_name="__main__")["result"]


def test_every_character_stays(tmp_path):
    made = script_of_function(plain, {"rate": 0.5, "name": TEXT})
    source = Path(__file__).read_text(encoding="utf-8")
    assert source[source.index("def plain") : source.index("\n\n\ndef defined_in")] in made.text
    assert returned(tmp_path, made.text, "plain") == plain(0.5, name=TEXT)


def test_strings_of_a_function_in_a_block_keep_their_lines(tmp_path):
    nested = defined_in_a_block()
    made = script_of_function(nested, {"name": "x"})
    assert returned(tmp_path, made.text, "nested") == nested("x") == "\nfirst\n  x\n"


def test_a_global_of_its_own_is_not_from_outside(tmp_path):
    assert returned(tmp_path, script_of_function(counting).text, "counting") == 1


def calling_a_shell() -> None:
    get_ipython().system("ls")  # type: ignore[name-defined]  # noqa: F821  what a notebook makes of `!ls`


def test_what_a_notebook_adds_to_builtins_is_from_outside(monkeypatch):
    monkeypatch.setattr("builtins.get_ipython", calling_a_shell, raising=False)
    with pytest.raises(CannotCarry, match="calling_a_shell uses get_ipython from outside"):
        script_of_function(calling_a_shell)


def leaving() -> None:
    print(open)
    exit(__file__)


def test_what_only_a_notebook_lacks_is_not(monkeypatch):
    monkeypatch.delattr("builtins.exit")
    assert "leaving()" in script_of_function(leaving).text


def test_a_function_may_have_generators_inside(tmp_path):
    assert returned(tmp_path, script_of_function(with_a_generator_inside).text, "with_a_generator_inside") == [1, 2]


def test_annotations_are_evaluated_when_they_were(tmp_path):
    assert returned(tmp_path, script_of_function(annotated).text, "annotated") is None


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (outside, "outside uses RATE from outside: import or define that inside"),
        (closing(1), "inner uses value from outside"),
        (cached, "has no source of its own: pass a function made with def"),
        (functools.partial(plain, 0.1), "is a partial, which has no source of its own"),
        (decorated, "decorated has a decorator"),
        (later, "later is async: write a def, and call asyncio.run inside of it"),
        (yielding, "yielding has a yield, so a call runs none of it"),
        (lambda: None, "a lambda has no name and no lines of its own: pass a function made with def"),
        (Thing().method, "is a method, which has no source"),
        (Thing(), "is a Thing, which has no source"),
        (Thing.method, "method: missing a required argument: 'self'"),
        (print, "is a builtin_function_or_method"),
        (Thing, "is a type"),
        (eval(compile("lambda: 1", "<nowhere>", "eval")), "a lambda has no name and no lines of its own"),
    ],
    ids=lambda value: getattr(value, "__name__", type(value).__name__) if callable(value) else "",
)
def test_a_function_that_cannot_be_a_script(function, told):
    with pytest.raises(CannotCarry, match=told.replace("(", r"\(")):
        script_of_function(function)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"other": 1}, "plain: got an unexpected keyword argument 'other'"),
        ({"name": Path("x")}, r"func_args\['name'\] is a pathlib.*Path, which a script cannot hold: pass numbers"),
        ({"name": [{"a": Color.RED}]}, "a script cannot hold"),
        ({"name": OrderedDict(a=1)}, "collections.OrderedDict"),
        ({"name": SimpleNamespace(item=lambda: 1)}, r"pass .item\(\) or .tolist\(\) of it"),
        ({"name": 10**5000}, "Exceeds the limit"),
    ],
)
def test_arguments_that_cannot_be_carried(arguments, told):
    with pytest.raises(CannotCarry, match=told):
        script_of_function(plain, arguments)


def test_a_list_that_holds_itself():
    value: list[Any] = []
    value.append(value)
    with pytest.raises(CannotCarry, match="nested too deeply, or holds itself"):
        literal(value, "x")


@pytest.mark.parametrize(
    "value",
    [
        None, True, 1, -0.0, 1e300, 1 + 2j, "", TEXT, "\ud800", b"\x00\xff", bytearray(b"x"), range(1, 9, 2),
        [], [1, [2]], (), (1,), (1, 2), set(), {1, "a"}, frozenset(), frozenset({(1, 2)}), {}, {"a": {1: None}},
    ],
    ids=lambda value: "set of two" if value == {1, "a"} else repr(value),  # workers order sets differently
)  # fmt: skip
def test_a_literal_is_the_same_value_again(value):
    again = eval(literal(value, "x"))
    assert (type(again), again, literal(again, "x")) == (type(value), value, literal(value, "x"))


def test_numbers_that_have_no_literal():
    again = eval(literal([math.inf, -math.inf, math.nan, complex(math.inf, -0.0)], "x"))
    assert repr(again) == repr([math.inf, -math.inf, math.nan, complex(math.inf, -0.0)])


def test_the_text_of_a_set_does_not_depend_on_the_run():
    """The order of strings in a set changes with the seed of their hashes."""
    assert literal({"b", "a", "c"}, "x") == "{'a', 'b', 'c'}"


def test_a_file_that_changed_since_it_was_imported(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    file = tmp_path / "changing.py"
    file.write_text("def first():\n    return 1\n")
    import changing  # type: ignore[import-not-found]

    function = changing.first
    file.write_text("def second():\n    return 200\n")
    try:
        with pytest.raises(CannotCarry, match="the file of first changed since it was imported"):
            script_of_function(function)
    finally:
        del sys.modules["changing"]

"""Jinja for texts of strangers: plain data in, text out, nothing of Python, and a bound on time and size.

Imported only where a template is met.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from jinja2 import Undefined, nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.runtime import Context, LoopContext, Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import missing

from trainform.source.templates.errors import Missing, Refused, noun

MAX_STEPS = 1_000_000
"""Work that a template may do, half a second of it. A step is an item, a statement, or 64 characters."""

MAX_DEPTH = 50
"""How deeply macros may call each other."""

_INTEGER_BITS = 63
_LOOP = (
    *("depth", "depth0", "first", "index", "index0", "last", "length", "nextitem", "previtem"),
    *("revindex", "revindex0"),
)
"""What `loop` tells."""

Piece = tuple[int, bool, Any]
"""A value that a template writes: the line that does, whether it is that line's own text, and the value."""


class _Generator(CodeGenerator):
    """Lets a template yield pieces instead of strings, one for each text and expression."""

    def _output_child_to_const(self, node: nodes.Expr, frame: Frame, finalize: Any) -> str:
        raise nodes.Impossible  # which would join pieces of several lines

    def _output_child_pre(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:
        self.write(f"({node.lineno}, {isinstance(node, nodes.TemplateData)}, ")

    def _output_child_post(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:
        self.write(")")

    def start_write(self, frame: Frame, node: nodes.Node | None = None) -> None:
        super().start_write(frame, node)
        self.write(f"({node.lineno if node else 1}, False, ")

    def end_write(self, frame: Frame) -> None:
        self.write(")")
        super().end_write(frame)


class Sandbox(ImmutableSandboxedEnvironment):
    """The sandbox of one rendering, which counts what the template does."""

    code_generator_class = _Generator
    intercepted_binops = frozenset(ImmutableSandboxedEnvironment.default_binop_table)

    def __init__(self) -> None:
        super().__init__(
            undefined=Missing,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
            optimized=False,  # nothing is computed before it is counted
        )
        self.concat = self._concat  # type: ignore[assignment]
        self.globals = {"range": range}
        self.weights: dict[str, int] = {}
        """What one call of a macro costs, by its name."""
        self._left = MAX_STEPS
        self._calls = 0

    def spend(self, steps: int) -> None:
        """Counts work before it is done; raises Refused when there was too much."""
        self._left -= steps
        if self._left < 0:
            message = f"the template takes more than {MAX_STEPS:,} steps"
            raise Refused("TF004", message, "loop over fewer items, or write the result as plain YAML")

    def weigh(self, value: Any) -> None:
        """Counts a value with everything in it, each time that it is used as a whole."""
        waiting = [value]
        while waiting:
            item = waiting.pop()
            self.spend(1 + len(item) // 64 if isinstance(item, str) else 1)
            if isinstance(item, dict):
                waiting.extend(item.values())
            elif isinstance(item, list | tuple):
                waiting.extend(item)

    def bounded(self, value: Any) -> Any:
        """A result, counted; an integer has to fit into 64 bits as everywhere in Kubernetes."""
        if isinstance(value, int) and value.bit_length() > _INTEGER_BITS:
            raise Refused("TF004", "the number does not fit into 64 bits")
        self.weigh(value)
        return value

    def text(self, value: Any) -> str:
        """A value as it is written: text as it stands, anything else as JSON, which is YAML too."""
        if isinstance(value, str):
            return value
        if type(value) is Undefined:
            return ""  # `{{ a if b }}` where b is false
        self.weigh(value)
        return json.dumps(value, ensure_ascii=False, allow_nan=False, default=_unwritable)

    def joined(self, values: Iterable[Any], between: str = "") -> str:
        """The texts of all values in one."""
        texts = [self.text(value) for value in values]
        self.spend((sum(map(len, texts)) + len(between) * len(texts)) // 64)
        return between.join(texts)

    def _concat(self, pieces: Iterable[Piece]) -> str:
        """What the body of a macro or a block wrote."""
        return self.joined(value for _, _, value in pieces)

    def getattr(self, obj: Any, attribute: str) -> Any:
        """`obj.attribute` is `obj["attribute"]`: attributes of Python's objects do not exist here."""
        return self.getitem(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        """A member of plain data, or of `loop`; else Missing, which is refused once it is used."""
        if isinstance(obj, Missing):
            str(obj)  # raises in its own words
        if isinstance(obj, LoopContext) and argument in _LOOP:
            return getattr(obj, argument)
        if isinstance(obj, dict):
            found = obj.get(argument, missing) if isinstance(argument, str) else missing
        else:
            found = _entry(obj, argument)
        return self.undefined(obj=obj, name=argument) if found is missing else found

    def call(self, context: Context, obj: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Calls a macro, or range."""
        if obj is range:
            self.spend(len(range(*args)))
            return list(range(*args))
        if not isinstance(obj, Macro):
            if isinstance(obj, Missing):
                str(obj)  # raises in its own words
            raise Refused("TF015", f"{noun(obj)} cannot be called", "only macros and range can be called")
        self.spend(self.weights.get(obj.name, 1))
        if self._calls == MAX_DEPTH:
            raise Refused("TF004", f"macro calls are nested more than {MAX_DEPTH} deep", word=obj.name)
        self._calls += 1
        result = super().call(context, obj, *args, **kwargs)
        self._calls -= 1
        return result

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """An operator, with its result counted: before it is there where it may be large."""
        if operator == "%" and isinstance(left, str):
            raise Refused("TF015", "% cannot format text in a template", "join text with ~", "%")
        if operator == "**" and isinstance(right, int) and right > _INTEGER_BITS:
            raise Refused("TF004", "the number does not fit into 64 bits", word="**")
        if operator == "*":
            self._check_repetition(left, right)
            self._check_repetition(right, left)
        return self.bounded(self.binop_table[operator](left, right))

    def _check_repetition(self, sequence: Any, times: Any) -> None:
        if isinstance(sequence, str | list | tuple) and isinstance(times, int):
            self.spend(max(times, 0) * (1 + len(sequence)) // 64)


def _entry(sequence: Any, index: Any) -> Any:
    if not (isinstance(sequence, str | list | tuple) and isinstance(index, int | slice)):
        return missing
    try:
        return sequence[index]
    except IndexError:
        return missing


def _unwritable(value: Any) -> Any:
    """What JSON has no form for."""
    if isinstance(value, Undefined):
        return str(value)  # raises in its own words if it is Missing
    raise Refused("TF015", "this value cannot be printed", "call the macro, or use a member of loop")

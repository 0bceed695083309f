"""Jinja for untrusted templates, imported on demand: plain data in, text out, no access to Python, bounded time and
size."""

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
"""Maximum steps of a template, about half a second. A step is an item, a statement, or 64 characters."""

MAX_DEPTH = 50
"""Maximum nesting of macro calls."""

_INTEGER_BITS = 63
_LOOP = (
    *("depth", "depth0", "first", "index", "index0", "last", "length", "nextitem", "previtem"),
    *("revindex", "revindex0"),
)
"""Members of `loop`."""

Piece = tuple[int, bool, Any]
"""Template line, whether the text is that line's own, and the value written."""


class _Generator(CodeGenerator):
    """Makes templates yield a piece per text and expression instead of strings."""

    def _output_child_to_const(self, node: nodes.Expr, frame: Frame, finalize: Any) -> str:
        raise nodes.Impossible  # constant folding would join pieces of several lines

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
    """The sandbox of one rendering, which counts the template's work."""

    code_generator_class = _Generator
    intercepted_binops = frozenset(ImmutableSandboxedEnvironment.default_binop_table)

    def __init__(self) -> None:
        super().__init__(
            undefined=Missing,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
            optimized=False,  # constant folding would run uncounted
        )
        self.concat = self._concat  # type: ignore[assignment]
        self.globals = {"range": range}
        self.weights: dict[str, int] = {}
        """Cost of one call by macro name."""
        self._left = MAX_STEPS
        self._calls = 0

    def spend(self, steps: int) -> None:
        """Counts work before it is done; raises Refused if over the limit."""
        self._left -= steps
        if self._left < 0:
            message = f"the template takes more than {MAX_STEPS:,} steps"
            raise Refused("TF004", message, "loop over fewer items, or write the result as plain YAML")

    def weigh(self, value: Any) -> None:
        """Counts a value and everything in it, each time that it is used as a whole."""
        waiting = [value]
        while waiting:
            item = waiting.pop()
            self.spend(1 + len(item) // 64 if isinstance(item, str) else 1)
            if isinstance(item, dict):
                waiting.extend(item.values())
            elif isinstance(item, list | tuple):
                waiting.extend(item)

    def bounded(self, value: Any) -> Any:
        """A result, counted; integers must fit into 64 bits, as everywhere in Kubernetes."""
        if isinstance(value, int) and value.bit_length() > _INTEGER_BITS:
            raise Refused("TF004", "the number does not fit into 64 bits")
        self.weigh(value)
        return value

    def text(self, value: Any) -> str:
        """A value as text: strings unchanged, anything else as JSON, which is YAML too."""
        if isinstance(value, str):
            return value
        if type(value) is Undefined:
            return ""  # `{{ a if b }}` with a false b
        self.weigh(value)
        return json.dumps(value, ensure_ascii=False, allow_nan=False, default=_unwritable)

    def joined(self, values: Iterable[Any], between: str = "") -> str:
        """All values as one text."""
        texts = [self.text(value) for value in values]
        self.spend((sum(map(len, texts)) + len(between) * len(texts)) // 64)
        return between.join(texts)

    def _concat(self, pieces: Iterable[Piece]) -> str:
        """The output of a macro or block body."""
        return self.joined(value for _, _, value in pieces)

    def getattr(self, obj: Any, attribute: str) -> Any:
        """`obj.attribute` is `obj["attribute"]`: Python attributes are not accessible."""
        return self.getitem(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        """A member of plain data or `loop`; else Missing, which is refused on use."""
        if isinstance(obj, Missing):
            str(obj)  # raises its own error
        if isinstance(obj, LoopContext) and argument in _LOOP:
            return getattr(obj, argument)
        if isinstance(obj, dict):
            found = obj.get(argument, missing) if isinstance(argument, str) else missing
        else:
            found = _entry(obj, argument)
        return self.undefined(obj=obj, name=argument) if found is missing else found

    def call(self, context: Context, obj: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Calls a macro or `range`."""
        if obj is range:
            self.spend(len(range(*args)))
            return list(range(*args))
        if not isinstance(obj, Macro):
            if isinstance(obj, Missing):
                str(obj)  # raises its own error
            raise Refused("TF015", f"{noun(obj)} cannot be called", "only macros and range can be called")
        self.spend(self.weights.get(obj.name, 1))
        if self._calls == MAX_DEPTH:
            raise Refused("TF004", f"macro calls are nested more than {MAX_DEPTH} deep", word=obj.name)
        self._calls += 1
        result = super().call(context, obj, *args, **kwargs)
        self._calls -= 1
        return result

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """An operator's result, counted; if it may be large, before it is computed."""
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
            size = max(times, 0) * (1 + len(sequence))
            self.spend(size // 64 if isinstance(sequence, str) else size)


def _entry(sequence: Any, index: Any) -> Any:
    if not (isinstance(sequence, str | list | tuple) and isinstance(index, int | slice)):
        return missing
    try:
        return sequence[index]
    except IndexError:
        return missing


def _unwritable(value: Any) -> Any:
    """Handles values that JSON cannot represent."""
    if isinstance(value, Undefined):
        return str(value)  # raises its own error if it is Missing
    raise Refused("TF015", "this value cannot be printed", "call the macro, or use a member of loop")

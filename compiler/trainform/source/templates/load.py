"""`.yaml.j2`: YAML with Jinja's expressions, rendered with the values of an Environment.

A template sees `env` and nothing else. What is wrong with the YAML that it renders is told at the line of the
template that wrote it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trainform.diagnostics import Diagnostic, Position
from trainform.source.load import Loaded, load_source
from trainform.source.text import Source, decode

if TYPE_CHECKING:
    from trainform.source.templates.rendering import Text

MAX_TEMPLATE = 128 * 2**10
"""Characters that a template may have: Jinja takes two seconds for the worst of this size."""


@dataclass(frozen=True, slots=True, eq=False)
class Rendered(Source):
    """The text that a template renders to; every place in it is one in the template."""

    template: Source
    lines: tuple[int, ...]
    """The line of the template that wrote each line of the text."""

    def line_of(self, number: int) -> int:
        """The line of the template that wrote line `number`, both counted from 1."""
        return self.lines[number - 1]

    def position_at(self, offset: int) -> Position:
        line, column = Source.position_at(self, offset)
        number = self.line_of(line)
        return Position(number, _column(self.line(number), Source.line(self, line), column))

    def line(self, number: int) -> str:
        """The text of one line of the template."""
        return self.template.line(number)


def _column(written: str, rendered: str, column: int) -> int:
    """The column of the template's line for one of the rendered line.

    The same up to the first expression, and from the end up to the last; within expressions, the first one's.
    """
    if written.startswith(rendered[: column - 1]):
        return column
    rest = rendered[column - 1 :]
    if rest and written.endswith(rest):
        return len(written) - len(rest) + 1
    return max(written.find("{{"), 0) + 1


def load_template(text: str | bytes, file: str, values: Mapping[str, Any]) -> Loaded:
    """Renders a template with `values` as its `env`, and reads the result as `load` would.

    Places of documents and diagnostics are those of the template. Never raises for bad input.
    """
    rendered, problems = render_template(text, file, values)
    return Loaded([], problems) if problems else load_source(rendered)


def render_template(text: str | bytes, file: str, values: Mapping[str, Any]) -> tuple[Rendered, list[Diagnostic]]:
    """The text of a template, and its problems, all of them errors; with problems the text is of no use."""
    source, problem = decode(text, file)
    if problem is None and len(source.text) > MAX_TEMPLATE:
        message = f"the template is larger than {MAX_TEMPLATE >> 10} KiB"
        hint = "split it into several files, or write most of it as plain YAML"
        problem = Diagnostic("TF004", "error", message, hint, place=source)
    if problem:
        return Rendered(file, "", source, (1,)), [problem]
    if "{" not in source.text:
        return _rendered(source, [(1, True, source.text)]), []
    from trainform.source.templates.rendering import Rendering  # it needs Jinja

    pieces, problems = Rendering(source).pieces(values)
    return _rendered(source, pieces), problems


def _rendered(source: Source, pieces: list[Text]) -> Rendered:
    text = "".join(text for _, _, text in pieces)
    return Rendered(source.file, text, source, tuple(_lines(pieces)))


def _lines(pieces: Iterable[Text]) -> list[int]:
    """The template's line for each line of the text: that of the first character that is not blank."""
    lines, blank = [1], True
    for number, own, text in pieces:
        for index, part in enumerate(text.split("\n")):
            line = number + index * own
            if index:
                lines.append(line)
                blank = True
            if blank and part.strip():
                lines[-1] = line
                blank = False
    return lines

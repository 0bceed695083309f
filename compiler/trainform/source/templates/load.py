"""`.yaml.j2` files: Jinja templates of YAML that see only `env`, an Environment's values. Problems in the rendered YAML
are reported at the template line that wrote it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from trainform.diagnostics import Diagnostic, Position
from trainform.source.load import Loaded, load_source
from trainform.source.text import Source, decode

if TYPE_CHECKING:
    from trainform.source.templates.rendering import Text

MAX_TEMPLATE = 128 * 2**10
"""Maximum characters of a template: Jinja takes two seconds for the worst case of this size."""


@dataclass(frozen=True, slots=True, eq=False)
class Rendered(Source):
    """Rendered text whose positions are those in the template."""

    is_template: ClassVar[bool] = True

    template: Source
    lines: tuple[int, ...]
    """The template line that wrote each line of the text."""

    def line_of(self, number: int) -> int:
        """The template line that wrote line `number`, both counted from 1."""
        return self.lines[number - 1]

    def position_at(self, offset: int) -> Position:
        line, column = Source.position_at(self, offset)
        number = self.line_of(line)
        return Position(number, _column(self.line(number), Source.line(self, line), column))

    def line(self, number: int) -> str:
        """One line of the template."""
        return self.template.line(number)


def _column(written: str, rendered: str, column: int) -> int:
    """The template column for a column of the rendered line: exact before the first and after the last expression, else
    that of the first expression."""
    if written.startswith(rendered[: column - 1]):
        return column
    rest = rendered[column - 1 :]
    if rest and written.endswith(rest):
        return len(written) - len(rest) + 1
    return max(written.find("{{"), 0) + 1


def load_template(text: str | bytes, file: str, values: Mapping[str, Any]) -> Loaded:
    """Renders a template with `values` as `env` and reads the result as `load` does. Positions are those in the
    template; bad input never raises."""
    rendered, problems = render_template(text, file, values)
    return Loaded([], problems) if problems else load_source(rendered)


def render_template(text: str | bytes, file: str, values: Mapping[str, Any]) -> tuple[Rendered, list[Diagnostic]]:
    """The rendered text and the problems, all of them errors; with problems the text is useless."""
    source, problem = decode(text, file)
    if problem is None and len(source.text) > MAX_TEMPLATE:
        message = f"the template is larger than {MAX_TEMPLATE >> 10} KiB"
        hint = "split it into several files, or write most of it as plain YAML"
        problem = Diagnostic("TF004", "error", message, hint, place=source)
    if problem:
        return Rendered(file, "", source, (1,)), [problem]
    if "{" not in source.text:
        return _rendered(source, [(1, True, source.text)]), []
    from trainform.source.templates.rendering import Rendering  # imports Jinja

    pieces, problems = Rendering(source).pieces(values)
    return _rendered(source, pieces), problems


def _rendered(source: Source, pieces: list[Text]) -> Rendered:
    text = "".join(text for _, _, text in pieces)
    return Rendered(source.file, text, source, tuple(_lines(pieces)))


def _lines(pieces: Iterable[Text]) -> list[int]:
    """For each line of text, the template line of its first non-blank character."""
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

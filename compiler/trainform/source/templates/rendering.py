"""Renders a template to pieces of text that know their lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from traceback import walk_tb
from typing import Any

from jinja2 import Template, TemplateError, TemplateSyntaxError, Undefined, nodes

from trainform.diagnostics import Diagnostic, Position
from trainform.source.templates.errors import Refused, Values
from trainform.source.templates.filters import equip
from trainform.source.templates.language import meter, violations
from trainform.source.templates.sandbox import Sandbox
from trainform.source.text import Source

MAX_OUTPUT = 4 * 2**20
"""Maximum characters that a template may render."""

_LONGEST = 200
"""Most characters of Python's own message."""

Text = tuple[int, bool, str]
"""Template line, whether the text is that line's own, and the rendered text."""


class Rendering:
    """One rendering of a template, with its problems."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.problems: list[Diagnostic] = []
        self.sandbox = Sandbox()
        equip(self.sandbox)

    def pieces(self, values: Mapping[str, Any]) -> tuple[list[Text], list[Diagnostic]]:
        """The template's output in order, incomplete if there are problems."""
        tree = self._parsed()
        template = self._compiled(tree) if tree and not self.problems else None
        pieces = self._written(template, values) if template else []
        return pieces, self.problems

    def _parsed(self) -> nodes.Template | None:
        try:
            tree = self.sandbox.parse(self.source.text)
            found = list(violations(tree, self.sandbox))
        except TemplateSyntaxError as error:
            self._syntax_error(error)
        except (RecursionError, ValueError):
            self._error("TF004", 1, "the template is nested too deeply or contains a number that is too long")
        else:
            for line, refused in found:
                self._refused(line, refused)
            return tree
        return None

    def _compiled(self, tree: nodes.Template) -> Template | None:
        try:
            meter(tree, self.sandbox)
            return Template.from_code(self.sandbox, self.sandbox.compile(tree), self.sandbox.globals)
        except TemplateSyntaxError as error:
            self._syntax_error(error)
        except (RecursionError, SyntaxError):  # Python limits nested blocks and brackets
            self._error("TF004", 1, "the template is nested too deeply")
        return None

    def _written(self, template: Template, values: Mapping[str, Any]) -> list[Text]:
        pieces: list[Text] = []
        try:
            pieces.extend(self._texts(template, values))
        except Refused as refused:
            self._refused(_line(template, refused), refused)
        except RecursionError as error:
            self._error("TF004", _line(template, error), "this is nested too deeply")
        except (TemplateError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            # Raised by expressions: 1 / 0, "x" | dictsort, [] + 1.
            self._error("TF016", _line(template, error), f"rendering failed here: {str(error)[:_LONGEST]}")
        return pieces

    def _texts(self, template: Template, values: Mapping[str, Any]) -> Iterator[Text]:
        left = MAX_OUTPUT
        written: Iterator[Any] = template.root_render_func(template.new_context({"env": Values(values)}))
        for line, own, value in written:
            try:
                text = self.sandbox.text(value)
                left -= len(text)
                if left < 0:
                    raise Refused("TF004", f"the template renders to more than {MAX_OUTPUT >> 20} MiB")
            except Refused as refused:
                self._refused(line, refused)
                if not isinstance(value, Undefined):  # after one missing name, report others too
                    return
            else:
                yield line, own, text

    def _syntax_error(self, error: TemplateSyntaxError) -> None:
        self._error("TF013", error.lineno, (error.message or "invalid template").rstrip("."))

    def _refused(self, line: int, refused: Refused) -> None:
        self._error(refused.code, line, refused.message, refused.hint, refused.word)

    def _error(self, code: str, line: int, message: str, hint: str = "", word: str = "") -> None:
        text = self.source.line(line)
        found = word and re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text)
        at = Position(line, (found.start() if found else len(text) - len(text.lstrip())) + 1)
        self.problems.append(Diagnostic(code, "error", message, hint, place=self.source, at=at))


def _line(template: Template, error: BaseException) -> int:
    """The template line that raised: the innermost frame in template code."""
    lines = [line for frame, line in walk_tb(error.__traceback__) if frame.f_code.co_filename == "<template>"]
    return template.get_corresponding_lineno(lines[-1]) if lines else 1

"""Problems as terminal text: message, location, source line and hint."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from trainform.diagnostics.annotation import elsewhere, of_template, stopped_jobs
from trainform.diagnostics.console import Style, styled
from trainform.diagnostics.diagnostic import Diagnostic, dotted
from trainform.diagnostics.escape import one_line
from trainform.diagnostics.excerpt import excerpt
from trainform.diagnostics.order import counted, first_of_kinds, folded, gravest, summary
from trainform.diagnostics.pages import explained

SILENT = ("TF156", "TF638")
"""Codes whose source line is not shown, because it holds a private key or a token."""

_LONGEST = 1000
"""Maximum characters of a message, hint or field, which may quote user text of any length."""

_STYLES: dict[str, Style] = {
    "error": {"fg": "red", "bold": True},
    "warning": {"fg": "yellow", "bold": True},
    "info": {"fg": "cyan", "bold": True},
    "place": {"bold": True},
    "field": {"bold": True},
    "code": {"dim": True},
    "gutter": {"fg": "blue"},
    "help": {"fg": "green", "bold": True},
    "note": {"fg": "blue", "bold": True},
}

_Paint = Callable[[str, str], str]
"""Styles text by style name."""


MOST = 1000
"""Most problems to print; of more, the gravest."""


def render_text(diagnostics: Iterable[Diagnostic], *, colour: bool, short: bool = False) -> str:
    """Every problem once, in order, then a summary line; empty if there are none. Of more than `MOST`, the others are
    counted. `short`: one warning and info per code, a count of the others, and where the codes are explained. `colour`
    adds ANSI escapes; the caller checks whether output is a terminal."""
    told = folded(diagnostics)
    if not told:
        return ""
    chosen, more = first_of_kinds(told) if short else (told, {})
    shown = gravest(chosen, MOST)
    left_out = [f"and {counted(len(chosen) - len(shown), 'more problem')}"] if len(shown) < len(chosen) else []
    if more:
        counts = ", ".join(f"{count} more {code}" for code, count in sorted(more.items()))
        left_out.append(f"{counts}: --all shows them")
    if short and (pages := explained({each.code for each in chosen})):
        left_out.append(pages)

    def paint(style: str, text: str) -> str:
        return styled(text, _STYLES[style], colour=colour)

    blocks = ["\n".join([_headline(each, paint), *_source(each, paint), *_notes(each, paint)]) for each in shown]
    return "\n\n".join([*blocks, *left_out, summary(told)]) + "\n"


def _headline(diagnostic: Diagnostic, paint: _Paint) -> str:
    """`jobs/llm.yaml:12:9: error TF102 spec.trainer.env[0].value: must be a string`."""
    place = ":".join([diagnostic.file or "trainform", *map(str, diagnostic.position or ())])
    field = dotted(diagnostic.path)
    words = [
        paint("place", one_line(place) + ":"),
        paint(diagnostic.severity, diagnostic.severity),
        paint("code", one_line(diagnostic.code)) + ("" if field else ":"),
    ]
    if field:
        words.append(paint("field", one_line(_cut(field))) + ":")
    return " ".join([*words, _indented(diagnostic.message, 2)])


def _source(diagnostic: Diagnostic, paint: _Paint) -> list[str]:
    """The source line with its number and a mark, in the style of rustc."""
    position = diagnostic.position
    line = diagnostic.place.line(position.line) if diagnostic.place and position else ""
    if not line.strip() or position is None or diagnostic.code in SILENT:
        return []
    shown = excerpt(line, position.column)
    number = str(position.line)
    mark = " " * shown.start + paint(diagnostic.severity, "^" * shown.width)
    margin = " " * len(number)
    return [
        paint("gutter", f"  {margin} |"),
        paint("gutter", f"  {number} |") + f" {shown.text}",
        paint("gutter", f"  {margin} |") + f" {mark}",
    ]


def _notes(diagnostic: Diagnostic, paint: _Paint) -> list[str]:
    notes = []
    if diagnostic.hint:
        notes.append(f"  {paint('help', 'help')}: {_indented(diagnostic.hint, 8)}")
    told = (stopped_jobs(diagnostic), _rendered(diagnostic), of_template(diagnostic), elsewhere(diagnostic))
    for note in filter(None, told):
        notes.append(f"  {paint('note', 'note')}: {one_line(_cut(note))}")
    return notes


def _rendered(diagnostic: Diagnostic) -> str:
    """The rendered object with the fault, if the user did not write it, and the plugin."""
    place = f" {dotted(diagnostic.object_path)}" if diagnostic.object_path else ""
    more = f" (and {diagnostic.others} more)" if diagnostic.others else ""
    told = [f"in the rendered {diagnostic.object}{more}{place}"] if diagnostic.object else []
    if diagnostic.plugin:
        told.append(f"found by plugin {diagnostic.plugin}")
    return ", ".join(told)


def _indented(text: str, width: int) -> str:
    return f"\n{' ' * width}".join(map(one_line, _cut(text).split("\n")))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"

"""Escapes for what is printed. File names, values and messages may hold the text of strangers, and what is printed is
read by terminals, which obey control characters, and by CI systems, which obey commands in logs.

There is one function per output language: `one_line` for a name or value inside a line, `log` for whole texts, pages of
Markdown, HTML and XML included, and `json_text` for JSON. They are applied where text leaves the program.
"""

from __future__ import annotations

import re

_HIDDEN = (
    # Control characters, except line breaks; soft hyphen, joiners, fillers and other characters without a glyph.
    "\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160"
    "\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164"
    # Surrogates, private use and noncharacters; byte order mark, annotations, and the fillers' halfwidth forms.
    "\ud800-\uf8ff\ufdd0-\ufdef\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    # Marks of Kaithi, hieroglyphs, shorthand and music; tags; private use.
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U0010ffff"
)
"""A character class of what a reader cannot see, and of what moves other text; without blanks of any width. It is
spelled out rather than taken from `unicodedata`, so that every Python prints the same."""

_OWN_STYLE = r"\x1b\[(?:[0-2]|3[1-6])m"
"""The escapes of `console.styled`."""

_HIDDEN_OR_STYLE = f"{_OWN_STYLE}|[{_HIDDEN}]"
"""Not compiled here, as that takes longer than all other patterns: most of what is printed is plain."""

_COMMAND = re.compile(r"(?:^([^\S\n]*):(?=:))|#(?=#[A-Za-z]*\[)", re.MULTILINE)
"""What makes a line of a log a command: `::error::` at its start for GitHub, `##[error]` and `##vso[...]` anywhere for
GitHub, Azure and others."""


def one_line(text: str) -> str:
    """A name or value inside a line: a line break is shown as `↵`, hidden characters as escapes such as `\\x1b`."""
    return _visible(text).replace("\n", "↵")


def log(text: str, *, styles: bool = False) -> str:
    """Lines of text that no terminal and no CI system takes for a command, hidden characters shown as escapes. `styles`
    lets the escapes of `console.styled` through, for terminals."""
    return without_commands(_visible(text, styles=styles))


def without_commands(text: str) -> str:
    """Text in which nothing is a command of a CI system: their first character is written as an escape."""
    return _COMMAND.sub(_disarmed, text)


def json_text(text: str) -> str:
    """A JSON document with the same content, all of whose characters are visible and none a command in a log."""
    return re.sub(rf"[{_HIDDEN}]|#(?=#[A-Za-z]*\[)", lambda found: _json_escape(found[0]), text)


def utf8(text: str) -> bytes:
    """Text as bytes; lone surrogates, which a file name or an escape may hold, become escapes."""
    return text.encode(errors="backslashreplace")


def _visible(text: str, *, styles: bool = False) -> str:
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    return re.sub(_HIDDEN_OR_STYLE, _kept if styles else _escaped, text)


def _kept(found: re.Match[str]) -> str:
    """A style as it is, a hidden character as an escape."""
    return found[0] if len(found[0]) > 1 else _escaped(found)


def _escaped(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode()


def _disarmed(found: re.Match[str]) -> str:
    return "\\x23" if found[1] is None else f"{found[1]}\\x3a"


def _json_escape(character: str) -> str:
    code = ord(character)
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"

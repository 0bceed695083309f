"""libyaml's errors in plain words, with hints for common mistakes."""

from __future__ import annotations

import re
from typing import Any

from yaml.error import MarkedYAMLError, YAMLError

from trainform.source.foreign import Complaint, foreign

_TEMPLATE = re.compile(r"\{\{|\{%")
_NO_SPACE = re.compile(r"\s*(?:- )*[\w.-]+:[^\s/]")
_FORBIDDEN = re.compile(r"[^\t\n\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|\ufeff")

TEMPLATE_HINT = "put the template expression in quotes, or rename the file to .yaml.j2 to render it"
_QUOTE_HINT = "put the value in quotes"
_INDENT_HINT = "indent it like its neighbors, or two spaces more than the line above"


def complaint(text: str, error: YAMLError | UnicodeError) -> Complaint:
    """The likely mistake behind a failed parse of `text`."""
    if not isinstance(error, MarkedYAMLError):  # reader and encoder errors
        return _forbidden_character(text, error)
    problem = error.problem or ""
    index = _index(error.problem_mark)
    start = _index(error.context_mark) if error.context_mark else index
    if accident := foreign(text, index):
        return accident
    sentence = ", ".join(filter(None, (error.context, error.problem)))
    found = _in_plain_words(text, problem, start, index) or Complaint(index, sentence)
    if found.hint != TEMPLATE_HINT and _TEMPLATE.search(_line(text, found.index)):
        return Complaint(found.index, found.message, TEMPLATE_HINT)
    return found


def _index(mark: Any) -> int:
    return mark.index if mark else 0


def _line(text: str, index: int) -> str:
    """The line around `index`."""
    end = text.find("\n", index)
    return text[text.rfind("\n", 0, index) + 1 : end if end >= 0 else len(text)]


def _before(text: str, index: int) -> str:
    return text[text.rfind("\n", 0, index) + 1 : index]


def _previous_line(text: str, index: int) -> str:
    return _line(text, max(text.rfind("\n", 0, index), 0)) if "\n" in text[:index] else ""


def _forbidden_character(text: str, error: Exception) -> Complaint:
    match = _FORBIDDEN.search(text)
    if match is None:
        return Complaint(0, str(error))
    what = "a NUL" if match[0] == "\0" else f"the character U+{ord(match[0]):04X}"
    hint = "delete it, or write it as an escape in a double-quoted string"
    return Complaint(match.start(), f"{what} is not allowed in YAML", hint, "TF003")


def _in_plain_words(text: str, problem: str, start: int, index: int) -> Complaint | None:
    """The mistake behind libyaml's error at `index`, in a construct that began at `start`."""
    for phrase, explain in _MISTAKES.items():
        if phrase in problem:
            return explain(text, start, index)
    for phrase, (where, message, hint, *code) in _FIXED_WORDS.items():
        if phrase in problem:
            sign = text[start : start + 1]
            return Complaint(start if where else index, message.format(sign), hint.format(sign), *code)
    return None


def _bad_start(text: str, start: int, index: int) -> Complaint | None:
    character = text[index : index + 1]
    if character == "\t":
        return _in_plain_words(text, "found a tab character", start, index)
    if character == "%" and _before(text, index).strip() == "{":
        return Complaint(index - 1, "a template statement is outside of a string", TEMPLATE_HINT)
    return Complaint(index, f"a plain value cannot start with {character}", _QUOTE_HINT)


def _second_colon(text: str, start: int, index: int) -> Complaint:
    before, above = _before(text, index), _previous_line(text, index)
    if before.startswith("--- "):
        return Complaint(4, "a mapping cannot start after ---", "start it on the next line")
    if ": " in before:
        return Complaint(index, 'a plain value cannot contain ": "', "put the whole value in quotes")
    if _NO_SPACE.match(above):
        place = index - len(before) - len(above) - 1
        return _missing_space(text, place + len(above) - len(above.lstrip()))
    first = index - len(before.lstrip())
    return Complaint(first, "this line is indented too far", _INDENT_HINT)


def _missing_space(text: str, index: int) -> Complaint:
    colon = text.index(":", index)
    key = text[index:colon].removeprefix("- ").strip()
    value = text[colon + 1 : colon + 60].split("\n")[0].strip()
    return Complaint(colon, f'a space is missing after "{key}:"', f"write {key}: {value}")


def _no_colon(text: str, start: int, index: int) -> Complaint:
    if _NO_SPACE.match(_line(text, start)) and ":" in text[start:index]:
        return _missing_space(text, start)
    word = text[start : start + 40].split("\n")[0].strip()
    if re.match(r"-[^\s-]", word):
        hint = f'write "- {word[1:]}", or "- {word}" if this dash is part of the text'
        return Complaint(start, "a list item needs a space after its dash", hint)
    hint = f'write "{word}: …" for a key, "- {word}" for a list item, or indent it to continue the value above'
    return Complaint(start, f'"{word}" is not a key: it has no colon', hint)


def _unfit(text: str, start: int, index: int) -> Complaint:
    """A missing key: text after a finished value, or wrong indentation."""
    before = _before(text, index)
    rest = text[index:].split("\n")[0].strip()
    if before.strip(" -"):
        hint = "put the whole value in quotes" if rest[:1] not in "]}" else "remove it, or open it before"
        if "'" in before:
            hint = "put the whole value in double quotes, or write '' for ' within single quotes"
        return Complaint(index, f'"{rest[:40]}" follows the end of the value', hint)
    if rest.startswith("- "):
        hint = "give the list a key, or indent it below one"
        return Complaint(index, "expected a key, found a list item", hint)
    return Complaint(index, "the indentation of this line matches no line above", _INDENT_HINT)


def _unclosed_bracket(text: str, start: int, index: int) -> Complaint:
    opening, before = text[start : start + 1], text[start:index].rstrip(" ")
    if before[-1:] in ("'", '"') and text[index : index + 1].strip("\n"):
        return _behind_quote(text, index, before[-1])
    closing = {"[": "]", "{": "}"}.get(opening, "")
    if not closing:
        return Complaint(index, "unexpected text in the list or mapping in brackets")
    hint = f"close it with {closing}, put a comma between entries, or quote the value"
    return Complaint(start, f"the {opening} that starts here is not closed", hint)


def _behind_quote(text: str, index: int, quote: str) -> Complaint:
    rest = text[index : index + 40].split("\n")[0].strip()
    inner = "'' for ' within single quotes" if quote == "'" else r'\" for " within double quotes'
    hint = f"put a comma between entries, or write {inner}"
    return Complaint(index, f'"{rest}" follows the end of the value', hint)


def _alias_name(text: str, start: int, index: int) -> Complaint:
    sign = text[start : start + 1]
    kind = "alias" if sign == "*" else "anchor"
    return Complaint(start, f"{sign} must be followed by the name of an {kind}", _QUOTE_HINT)


def _undefined_alias(text: str, start: int, index: int) -> Complaint:
    name = re.split(r"[\s,\]}]", text[index + 1 : index + 80], maxsplit=1)[0]
    hint = f"put the value in quotes, or define &{name} above, in the same document"
    return Complaint(index, f"there is no anchor &{name} above this alias", hint)


def _escape(text: str, start: int, index: int) -> Complaint:
    index = text.rfind("\\", 0, index + 1)
    sequence = text[index : index + 2]
    message = f"{sequence} is not a valid escape in a double-quoted string"
    return Complaint(index, message, r"write \\ for \, or use single quotes")


def _no_content(text: str, start: int, index: int) -> Complaint:
    character = text[index : index + 1]
    if not character.strip():
        opening = max(text.rfind("[", 0, index), text.rfind("{", 0, index))
        return _unclosed_bracket(text, opening, index)
    return Complaint(index, f"a plain value cannot start with {character}", _QUOTE_HINT)


_UNCLOSED = (True, "the string that starts here with {} is not closed", "close it with {}")
_DIRECTIVE = (True, "a line that starts with % must be a YAML directive", "indent it or quote it")
_FIXED_WORDS: dict[str, tuple[Any, ...]] = {
    "found a tab character": (False, "a tab cannot indent YAML", "indent with spaces"),
    "found unexpected end of stream": _UNCLOSED,
    "found unexpected document indicator": _UNCLOSED,
    "expected comment or line break": (
        False,
        "text cannot follow {} on the same line",
        "start it on the next line, or quote the whole text",
    ),
    "unexpected non-alphabetical character": _DIRECTIVE,
    "unknown directive name": _DIRECTIVE,
    "incompatible YAML document": _DIRECTIVE,
    "maximum nesting depth": (False, "the document is nested too deeply", "flatten it", "TF004"),
    "did not find expected '-' indicator": (
        False,
        "expected a list item, but this line does not start with -",
        "start it with -, or indent it",
    ),
    "block sequence entries are not allowed": (
        False,
        "a list cannot start on the same line as its key",
        "start the list on the next line, or quote the value",
    ),
    "mapping keys are not allowed": (False, "a plain value cannot start with a single ?", _QUOTE_HINT),
    "undefined tag handle": (False, "unknown tag after !", _QUOTE_HINT),
    "did not find the expected '>'": (False, "the tag that starts with !< is not closed with >", _QUOTE_HINT),
    "expected <document start>": (
        False,
        "the document ended above, but more text follows",
        "put --- between the documents",
    ),
}
"""By a phrase of libyaml's error: whether to report it at the start of the construct, the message and hint (with `{}`
for the character there), and the code unless it is the default."""

_MISTAKES = {
    "cannot start any token": _bad_start,
    "mapping values are not allowed": _second_colon,
    "could not find expected ':'": _no_colon,
    "did not find expected key": _unfit,
    "did not find expected ',' or": _unclosed_bracket,
    "expected alphabetic or numeric": _alias_name,
    "found undefined alias": _undefined_alias,
    "unknown escape character": _escape,
    "expected hexdecimal number": _escape,
    "invalid Unicode character escape": _escape,
    "did not find expected node content": _no_content,
}

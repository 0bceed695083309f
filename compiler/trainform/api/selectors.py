"""Label selectors and path patterns, which select jobs and objects."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Annotated, Literal

from pydantic import Field

from trainform.api.base import Model, absent
from trainform.k8s import names
from trainform.k8s.labels import holds

Operator = Literal["In", "NotIn", "Exists", "DoesNotExist"]

_TERM = re.compile(r"((?:[^,(]|\([^()]*\))*)(?:,|\Z)")
_SET = re.compile(r"(\S+)\s+(in|notin)\s*\(([^()]*)\)")
_EQUALITY = re.compile(r"([^\s=!]+)\s*(==?|!=)\s*([^\s=!]*)")
_EXISTS = re.compile(r"(!?)\s*([^\s=!]+)")
_CHARACTER = re.compile(r"\[(!?+)(\][^]]*|[^]]+)\]|.", re.DOTALL)
"""A set with its negation and contents, or any other character."""

LONGEST_PATH = 4096
"""Most characters of a pattern: Linux opens no longer path."""


class Requirement(Model):
    """One condition on the labels of an object."""

    key: str
    """The label's key. Example: `team`."""
    operator: Operator
    """`In` and `NotIn` compare with `values`; `Exists` and `DoesNotExist` look at the key alone. An object
    without the label satisfies `NotIn`."""
    values: Annotated[list[str], absent([])] = Field(default_factory=list)
    """The values to compare with; at least one for `In` and `NotIn`, none otherwise. Default: none.
    Example: `[vision, nlp]`."""

    def holds(self, labels: Mapping[str, str]) -> bool:
        """Whether these labels satisfy the condition."""
        return holds(self.operator, labels.get(self.key), self.values)


class LabelSelector(Model):
    """Kubernetes' label selector: its conditions are combined with AND; an empty one selects everything."""

    match_labels: Annotated[dict[str, str], absent({})] = Field(default_factory=dict)
    """Labels that an object must have, with these values. Default: none. Example: `{team: vision}`."""
    match_expressions: Annotated[list[Requirement], absent([])] = Field(default_factory=list)
    """More conditions. Default: none. Example: `[{key: stage, operator: NotIn, values: [draft]}]`."""


def matches_labels(selector: LabelSelector | str, labels: Mapping[str, str]) -> bool:
    """Whether a selector matches these labels. A text selector is in `kubectl -l` syntax: `a=b,c!=d,e in (x,y),f,!g`;
    ValueError if it is invalid."""
    if isinstance(selector, str):
        return all(requirement.holds(labels) for requirement in requirements(selector))
    equal = all(labels.get(key) == value for key, value in selector.match_labels.items())
    return equal and all(requirement.holds(labels) for requirement in selector.match_expressions)


def selector_text(selector: LabelSelector) -> str:
    """A selector in `kubectl -l` syntax; empty if it selects everything."""
    equal = [f"{key}={value}" for key, value in selector.match_labels.items()]
    return ",".join([*equal, *map(_term, selector.match_expressions)])


def _term(requirement: Requirement) -> str:
    if requirement.operator in ("Exists", "DoesNotExist"):
        return f"{'!' if requirement.operator == 'DoesNotExist' else ''}{requirement.key}"
    return f"{requirement.key} {requirement.operator.lower()} ({','.join(requirement.values)})"


@lru_cache(maxsize=256)
def requirements(text: str) -> tuple[Requirement, ...]:
    """The conditions of a `kubectl -l` selector; ValueError if it is invalid."""
    return tuple(map(_requirement, _terms(text)))


def _terms(text: str) -> Iterator[str]:
    """The text split at commas outside parentheses."""
    start = 0
    while start < len(text) or text[start - 1 : start] == ",":
        term = _TERM.match(text, start)
        if term is None or not term[1].strip():
            raise ValueError(f'expected a condition at "{text[start:]}"')
        yield term[1].strip()
        start = term.end()


def _requirement(term: str) -> Requirement:
    if found := _SET.fullmatch(term):
        values = [value.strip() for value in found[3].split(",")]
        return _checked(found[1], "In" if found[2] == "in" else "NotIn", values)
    if found := _EQUALITY.fullmatch(term):
        return _checked(found[1], "NotIn" if found[2] == "!=" else "In", [found[3]])
    if found := _EXISTS.fullmatch(term):
        return _checked(found[2], "DoesNotExist" if found[1] else "Exists", [])
    raise ValueError(f'"{term}" must have the form a=b, a!=b, a in (b,c), a notin (b,c), a or !a')


def _checked(key: str, operator: Operator, values: list[str]) -> Requirement:
    if reason := names.qualified_name(key):
        raise ValueError(f'the key "{key}" {reason}')
    for value in values:
        if reason := names.label_value(value):
            raise ValueError(f'the value "{value}" {reason}')
    return Requirement(key=key, operator=operator, values=values)


def matches_path(patterns: Iterable[str], path: str) -> bool:
    """Whether any pattern matches all of `path`, which is relative to the repository, with `/`. Case-sensitive.

    `*` and `?` stop at a slash, `[a-z]` and `[!a-z]` match one character, `**` any number of folders, even none;
    `jobs/**`, or `jobs/` for short, matches everything inside at any depth. Raises re.error for a reversed range,
    `[z-a]`, and for a pattern that is longer than any path.
    """
    return any(_pattern(pattern).fullmatch(path) for pattern in patterns)


def matching_paths(patterns: Iterable[str], paths: Iterable[str]) -> list[str]:
    """The `paths` for which `matches_path` is true, in order."""
    fit = [_pattern(pattern).fullmatch for pattern in patterns]
    if len(fit) == 1:
        return list(filter(fit[0], paths))
    return [path for path in paths if any(each(path) for each in fit)]


@lru_cache(maxsize=256)
def _pattern(pattern: str) -> re.Pattern[str]:
    if len(pattern) > LONGEST_PATH:
        raise re.error(f"it has more than {LONGEST_PATH:,} characters")
    *folders, last = pattern.removeprefix("./").split("/")
    blocks = [""]
    for part in folders:
        if part == "**":
            blocks.append("")
        else:
            blocks[-1] += f"{_segment(part)}/"
    blocks[-1] += "(?s:.+)" if last in ("", "**") else _segment(last)
    return re.compile(_joined(blocks, "(?:[^/]+/)"))


def _segment(part: str) -> str:
    """The regular expression for a name between two slashes."""
    blocks = [""]
    for found in _CHARACTER.finditer(part):
        if found[0] == "*":
            blocks.append("")
        else:
            blocks[-1] += _one(found)
    return _joined(blocks, "[^/]")


def _joined(blocks: list[str], gap: str) -> str:
    """Regular expressions with any number of `gap` between them. Atomic groups `(?>...)` prevent backtracking with many
    wildcards: the first match of a block leaves the most room for the others."""
    first, *middle = blocks
    last = f"{gap}*{middle.pop()}" if middle else ""
    return first + "".join(f"(?>{gap}*?{block})" for block in middle) + last


def _one(found: re.Match[str]) -> str:
    """The regular expression for one character; in a set, only `-` between two characters is special."""
    if found[2] is None:
        return "[^/]" if found[0] == "?" else re.escape(found[0])
    inside = re.sub(r"([\\\[\]^&~|])", r"\\\1", found[2])
    return f"(?!/)[{'^' * bool(found[1])}{inside}]"

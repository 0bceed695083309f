"""Regular expressions as in Go (RE2), which kustomize uses: matched in linear time, so that no pattern can stop a run.

Supported: literals, `.`, classes, `^`, `$`, groups, `|`, `*`, `+`, `?`, `{m,n}`, and the flags `i` and `s`. As in RE2,
there are no back references and no look-around.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple, TypeAlias

_MOST_STEPS = 1_000
"""Most steps of a compiled expression."""

_DEEPEST = 50
"""Most groups inside each other."""

_MOST_REPETITIONS = 1_000

_MEMORY = 1_000
"""Most states to remember, and most characters after each."""

_TOKEN = re.compile(
    r"""
      (?P<look>\(\?<?[=!])
    | \(\?(?P<flags>[a-zA-Z-]*)(?P<scope>[:)])    # (?: and (?i) and (?i:
    | (?P<group>\((?:\?P?<[A-Za-z_]\w*>)?)         # ( and (?<name>
    | (?P<repeat>[*+?]|\{[0-9]+(?:,[0-9]*)?\})[?]? # a lazy repetition matches the same texts
    | (?P<class>\[\^?+\]?(?:\\.|\[:\^?[a-z]+:\]|[^\]\\])*\]|\\[dDsSwW]|\.)
    | (?P<edge>[\^$]|\\[Az])
    | \\(?P<special>[tnrfva]|x[0-9a-fA-F]{2})
    | \\(?P<escaped>[^A-Za-z0-9])
    | (?P<other>[^\\])
    """,
    re.VERBOSE | re.DOTALL,
)

_SPECIAL = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v", "a": "\a"}
_NAMED_CLASSES = {
    "[:alnum:]": "0-9A-Za-z",
    "[:alpha:]": "A-Za-z",
    "[:digit:]": "0-9",
    "[:lower:]": "a-z",
    "[:upper:]": "A-Z",
    "[:word:]": "0-9A-Za-z_",
}


class RegexError(ValueError):
    """Why a text is no regular expression; the message is for users."""


class _Repeat(NamedTuple):
    """`part` at least `least` and at most `most` times; None for any number."""

    part: _Node
    least: int
    most: int | None


class _Any(NamedTuple):
    """One of some sequences."""

    branches: list[list[_Node]]


_Node: TypeAlias = "re.Pattern[str] | str | _Repeat | _Any"
"""A pattern of one character, an edge of the text (`^` or `$`), a repetition or a choice."""


class _Step(NamedTuple):
    """One step: at a fitting character, or at an edge of the text, or at neither, go on to `targets`."""

    targets: tuple[int, ...]
    character: re.Pattern[str] | None = None
    edge: str = ""


class _State:
    """A set of steps reached: whether the text may end here, and the states after characters met so far."""

    __slots__ = ("after", "is_end", "steps")

    def __init__(self, steps: frozenset[int], is_end: bool) -> None:
        self.steps = steps
        self.is_end = is_end
        self.after: dict[str, _State] = {}


class Regex:
    """A compiled expression. All its branches are followed at once, and the states reached are remembered."""

    def __init__(self, steps: list[_Step]) -> None:
        self._steps = steps
        self._states: dict[frozenset[int], _State] = {}
        self._start = self._state(self._reached([0], "^"))
        self._matches_nothing = len(steps) - 1 in self._reached([0], "^$")

    def fullmatch(self, text: str) -> bool:
        """Whether the expression matches all of `text`."""
        state = self._start
        for character in text:
            state = state.after.get(character) or self._follow(state, character)
        return state.is_end if text else self._matches_nothing

    def _follow(self, state: _State, character: str) -> _State:
        steps = [self._steps[step] for step in state.steps]
        met = [step for step in steps if step.character and step.character.match(character)]
        following = self._state(self._reached((target for step in met for target in step.targets), ""))
        if len(state.after) < _MEMORY:
            state.after[character] = following
        return following

    def _state(self, steps: frozenset[int]) -> _State:
        found = self._states.get(steps)
        if found is None:
            found = _State(steps, len(self._steps) - 1 in self._reached(steps, "$"))
            if len(self._states) < _MEMORY:
                self._states[steps] = found
        return found

    def _reached(self, steps: Iterable[int], edges: str) -> frozenset[int]:
        """These steps and those reached from them without a character, where the text has these edges."""
        found, waiting = set[int](), list(steps)
        while waiting:
            number = waiting.pop()
            if number not in found:
                found.add(number)
                step = self._steps[number]
                if not step.character and (not step.edge or step.edge in edges):
                    waiting += step.targets
        return frozenset(found)


@lru_cache(maxsize=256)
def compile_regex(pattern: str) -> Regex:
    """The compiled expression. Raises RegexError."""
    tokens = _Tokens(pattern)
    node = _choice(tokens, 0, 0)
    if tokens.next is not None:
        raise RegexError("a ) has no (")
    program = _Program()
    program.add(node)
    return Regex([*program.steps, _Step(())])


class _Tokens:
    """The tokens of an expression, with the next one in sight."""

    def __init__(self, pattern: str) -> None:
        self._tokens = _tokens(pattern)
        self.next: re.Match[str] | None = next(self._tokens, None)

    def take(self) -> re.Match[str]:
        taken = self.next
        assert taken is not None  # the caller has seen it
        self.next = next(self._tokens, None)
        return taken

    def sees(self, text: str) -> bool:
        return self.next is not None and self.next[0] == text


def _tokens(pattern: str) -> Iterator[re.Match[str]]:
    at = 0
    while at < len(pattern):
        token = _TOKEN.match(pattern, at)
        if token is None:
            raise RegexError(f"{pattern[at : at + 2]} is not supported")
        if token["look"]:
            raise RegexError("RE2 has no look-around")
        yield token
        at = token.end()


def _choice(tokens: _Tokens, flags: int, depth: int) -> _Any:
    """Sequences with `|` between them, up to the end of their group."""
    if depth > _DEEPEST:
        raise RegexError(f"groups are nested more than {_DEEPEST} deep")
    branches: list[list[_Node]] = [[]]
    while tokens.next is not None and not tokens.sees(")"):
        token = tokens.take()
        if token["scope"] == ")":
            flags = _with_flags(flags, token["flags"])
        elif token[0] == "|":
            branches.append([])
        elif token["repeat"]:
            branches[-1].append(_repeated(branches[-1], token["repeat"]))
        else:
            branches[-1].append(_one(token, tokens, flags, depth))
    return _Any(branches)


def _one(token: re.Match[str], tokens: _Tokens, flags: int, depth: int) -> _Node:
    if token["group"] or token["scope"]:
        inside = _choice(tokens, _with_flags(flags, token["flags"] or ""), depth + 1)
        if tokens.next is None:
            raise RegexError("a ( is not closed")
        tokens.take()
        return inside
    if token["edge"]:
        return "^" if token["edge"] in ("^", "\\A") else "$"
    return _character(token, flags)


def _character(token: re.Match[str], flags: int) -> re.Pattern[str]:
    if token["other"] == "[":
        raise RegexError("a [ is not closed")
    text = token["class"] or re.escape(_literal(token))
    for name, members in _NAMED_CLASSES.items():
        text = text.replace(name, members)
    try:
        return re.compile(text.replace("[[", "[\\["), flags | re.ASCII)
    except re.error as error:
        raise RegexError(f"{token[0]}: {error.msg}") from error


def _literal(token: re.Match[str]) -> str:
    if special := token["special"]:
        return chr(int(special[1:], 16)) if special[0] == "x" else _SPECIAL[special]
    return str(token["escaped"] or token["other"])


def _with_flags(flags: int, letters: str) -> int:
    """`flags` with those of `(?i)` or `(?-i)`."""
    on, _, off = letters.partition("-")
    if others := {*on, *off} - {"i", "s"}:
        raise RegexError(f"the flag {min(others)} is not supported")
    given = {"i": re.IGNORECASE, "s": re.DOTALL}
    for letter in on:
        flags |= given[letter]
    for letter in off:
        flags &= ~given[letter]
    return flags


def _repeated(sequence: list[_Node], sign: str) -> _Repeat:
    """The last part of a sequence, taken out of it to be repeated."""
    if not sequence or isinstance(sequence[-1], str | _Repeat):
        raise RegexError(f"nothing to repeat before {sign}")
    least, most = _REPEATS.get(sign) or _counts(sign)
    if max(least, most or 0) > _MOST_REPETITIONS or (most is not None and most < least):
        raise RegexError(f"{sign}: from 0 to {_MOST_REPETITIONS:,} repetitions are possible")
    return _Repeat(sequence.pop(), least, most)


_REPEATS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}


def _counts(sign: str) -> tuple[int, int | None]:
    """The counts of `{2}`, `{2,}` or `{2,3}`; too many digits count as too many repetitions."""
    least, comma, most = (text[:5] for text in sign.strip("{}").partition(","))
    return int(least), int(most) if most else None if comma else int(least)


class _Program:
    """The steps of an expression."""

    def __init__(self) -> None:
        self.steps: list[_Step] = []

    def append(self, character: re.Pattern[str] | None = None, edge: str = "") -> int:
        """Adds a step to the one after it; its index."""
        if len(self.steps) >= _MOST_STEPS:
            raise RegexError(f"it takes more than {_MOST_STEPS:,} steps: repeat less")
        self.steps.append(_Step((len(self.steps) + 1,), character, edge))
        return len(self.steps) - 1

    def add(self, node: _Node) -> None:
        if isinstance(node, _Any):
            self._add_choice(node.branches)
        elif isinstance(node, _Repeat):
            self._add_repetition(node)
        elif isinstance(node, str):
            self.append(edge=node)
        else:
            self.append(node)

    def _add_choice(self, branches: list[list[_Node]]) -> None:
        fork, starts, ends = self.append(), [], []
        for branch in branches:
            starts.append(len(self.steps))
            for node in branch:
                self.add(node)
            ends.append(self.append())
        self._goto(fork, *starts)
        for end in ends:
            self._goto(end, len(self.steps))

    def _add_repetition(self, node: _Repeat) -> None:
        for _ in range(node.least):
            self.append()
            self.add(node.part)
        if node.most is None:
            fork = self.append()
            self.add(node.part)
            self._goto(self.append(), fork)
            self._goto(fork, fork + 1, len(self.steps))
            return
        forks = []
        for _ in range(node.most - node.least):
            forks.append(self.append())
            self.add(node.part)
        for fork in forks:
            self._goto(fork, fork + 1, len(self.steps))

    def _goto(self, step: int, *targets: int) -> None:
        self.steps[step] = self.steps[step]._replace(targets=targets)

"""Similar names for hints."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

_ALIKE = 0.65
"""Minimum similarity from 0 to 1; lower, a long name contains the letters of almost any short one."""


_LISTED = 20
"""Most names to list in a hint."""

_LONGEST = 100
"""Most characters of a word that may be a mistyped name."""

MOST = 1000
"""Most names to compare a word with: a file may have as many wrong words as names."""


def nearest(word: str, known: Iterable[str], most: int = MOST) -> str:
    """The name in `known` that `word` was probably meant to be, or empty; empty if there are more than `most` names."""
    names = list(islice(known, most + 1))
    if len(word) > _LONGEST or len(names) > most:
        return ""
    from difflib import get_close_matches  # slow import, only needed for mistakes

    by_lower = {name.lower(): name for name in sorted(names, reverse=True)}
    near = get_close_matches(word.lower(), by_lower, n=1, cutoff=_ALIKE)
    return by_lower[near[0]] if near else ""


def did_you_mean(word: str, known: Iterable[str], most: int = MOST) -> str:
    """`did you mean "name"?`, or empty if nothing is similar. Names a letter that only looks like one of the name's."""
    near = nearest(word, known, most)
    if not near:
        return ""
    strange = next((each for each in word if not each.isascii()), "") if near.isascii() else ""
    return f'did you mean "{near}"?' + (f" Yours has {_named(strange)}" if strange else "")


def _named(letter: str) -> str:
    import unicodedata

    name = unicodedata.name(letter, "")
    return f"U+{ord(letter):04X}" + (f" ({name})" if name else "")


def listed(names: Sequence[str]) -> str:
    """`a, b, c`, or the first names and how many more there are."""
    more = len(names) - _LISTED
    return ", ".join(names[:_LISTED]) + (f" and {more} more" if more > 0 else "")

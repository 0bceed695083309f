"""Similar names for hints."""

from __future__ import annotations

from collections.abc import Iterable

_ALIKE = 0.65
"""Minimum similarity from 0 to 1; lower, a long name contains the letters of almost any short one."""


def nearest(word: str, known: Iterable[str]) -> str:
    """The name in `known` that `word` was probably meant to be, or empty."""
    from difflib import get_close_matches  # slow import, only needed for mistakes

    by_lower = {name.lower(): name for name in sorted(known, reverse=True)}
    near = get_close_matches(word.lower(), by_lower, n=1, cutoff=_ALIKE)
    return by_lower[near[0]] if near else ""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`did you mean "name"?`, or empty if nothing is similar."""
    near = nearest(word, known)
    return f'did you mean "{near}"?' if near else ""

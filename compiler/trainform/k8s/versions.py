"""Versions of what runs in a cluster, and whether a change has reached one."""

from __future__ import annotations

import re
from typing import NamedTuple

Release = tuple[int, int, int]
"""Major, minor and patch."""

_VERSION = r"v?(\d+)\.(\d+)(?:\.(\d+))?(?:[-+][0-9A-Za-z.+-]+)?"


class ClusterVersion(NamedTuple):
    """A version whose patch release may be unknown (None): `"1.36"`."""

    major: int
    minor: int
    patch: int | None = None

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}" + ("" if self.patch is None else f".{self.patch}")


class Versions(NamedTuple):
    """What an Environment says of its cluster; None is unknown."""

    kubernetes: ClusterVersion | None = None
    jobset: ClusterVersion | None = None
    kueue: ClusterVersion | None = None


def parse_version(text: str) -> ClusterVersion | None:
    """`v1.36.2-gke.1` is 1.36.2; None if the text is no version."""
    found = re.fullmatch(_VERSION, text)
    if found is None:
        return None
    return ClusterVersion(int(found[1]), int(found[2]), None if found[3] is None else int(found[3]))


def has_change(version: ClusterVersion | None, *releases: Release) -> bool | None:
    """Whether a version has a change that came with these releases: that of a new minor version, and before it any
    patch releases that got it too, in ascending order. None if that is not known."""
    if version is None:
        return None
    for major, minor, patch in releases:
        if (version.major, version.minor) == (major, minor):
            return patch == 0 or None if version.patch is None else version.patch >= patch
    return version[:2] > releases[-1][:2]

"""Names of images: `registry:port/path/name:tag@algorithm:digest`. Source: github.com/distribution/reference"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

_PART = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_HOST = r"(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:]+\])(?::[0-9]+)?"
_NAME = rf"(?:{_HOST}/)?{_PART}(?:/{_PART})*"
_TAG = r"\w[\w.-]{0,127}"
_DIGEST = r"[a-z0-9]+(?:[+._-][a-z0-9]+)*:[0-9a-f]{32,}"

_IMAGE = re.compile(rf"({_NAME})(?::({_TAG}))?(?:@({_DIGEST}))?", re.ASCII)


class ImageName(NamedTuple):
    """An image's name with registry and path; its tag and digest, empty if absent."""

    name: str
    tag: str = ""
    digest: str = ""

    @classmethod
    @lru_cache
    def of(cls, image: str) -> ImageName | None:
        """The parts of an image; None for an invalid name, which the kubelet would reject."""
        found = _IMAGE.fullmatch(image)
        return cls(found[1], found[2] or "", found[3] or "") if found else None

    @property
    def moves(self) -> bool:
        """Whether whoever pushed last decides what runs: no digest, and no tag or `latest`."""
        return not self.digest and self.tag in ("", "latest")

    def __str__(self) -> str:
        return f"{self.name}{self.tag and f':{self.tag}'}{self.digest and f'@{self.digest}'}"


def is_tag(text: str) -> bool:
    return re.fullmatch(_TAG, text, re.ASCII) is not None


def is_digest(text: str) -> bool:
    return re.fullmatch(_DIGEST, text, re.ASCII) is not None

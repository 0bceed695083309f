"""The order in which people read names of jobs."""

from __future__ import annotations

import re

_NUMBER = re.compile("([0-9]+)")


def natural(job: tuple[str, ...]) -> tuple[list[list[str | int]], tuple[str, ...]]:
    """Sorts environment, namespace and name of a job as people would: `lr-2` before `lr-10`."""
    return [[int(part) if index % 2 else part for index, part in enumerate(_NUMBER.split(text))] for text in job], job

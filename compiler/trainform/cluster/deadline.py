"""The time that one command has for all that it asks a cluster."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from trainform.cluster import OutOfTime


class Deadline:
    """So many seconds from now on; infinite by default."""

    def __init__(self, seconds: float = math.inf, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds, self._clock = seconds, clock
        self._end = clock() + seconds

    def left(self) -> float:
        """Seconds that are left, more than 0. Raises OutOfTime."""
        left = self._end - self._clock()
        if left <= 0:
            raise OutOfTime(f"the cluster did not answer everything within {self._seconds:g} s (--timeout)")
        return left

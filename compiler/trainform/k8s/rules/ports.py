"""Which ports and names of ports Kubernetes accepts."""

from __future__ import annotations

import re
from functools import lru_cache

MOST_PORT = 65535
"""The largest number of a port; the smallest is 1."""

_LONGEST = 15
_NAME = re.compile("(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*")


@lru_cache
def port_name(name: str) -> str | None:
    """Why a name of a port is refused, or None: the rule is that of IANA's service names."""
    if len(name) > _LONGEST:
        return f"must be at most {_LONGEST} characters long, not {len(name)}"
    if _NAME.fullmatch(name):
        return None
    return "must consist of lowercase letters, digits and single `-` between them, with at least one letter"

"""Shared by rules for rendered objects: the list of problems, checks of names and numbers. Rules treat a field of the
wrong type as absent, and leave types, enums, missing fields and duplicate list keys to the schemas."""

from __future__ import annotations

from collections.abc import Iterable

from trainform.diagnostics import Path
from trainform.k8s.names import NameRule, quoted
from trainform.k8s.schema.messages import SchemaProblem
from trainform.k8s.tree import Tree, number

LARGEST_ID = 2**31 - 1
"""Largest user or group ID, and largest int32."""

MOST_PORT = 65535
"""Largest port number; the smallest is 1."""


class Found(list[SchemaProblem]):
    """Problems found so far."""

    def tell(self, path: Path, code: str, message: str, hint: str = "") -> None:
        self.append(SchemaProblem(path, code, message, hint))


def replicas(job: Tree) -> int:
    """Jobs of a replicated job; JobSet's default is one."""
    count = number(job, "replicas")
    return 1 if count is None else count


def check_name(
    tree: Tree, key: str, rule: NameRule, code: str, path: Path, found: Found, *, may_be_empty: bool = True
) -> None:
    """Reports the name at `key` of `tree` if `rule` rejects it; `path` is that of `tree`, and absent is fine."""
    value = tree.get(key)
    if type(value) is str and (value or not may_be_empty) and (reason := rule(value)):
        found.tell((*path, key), code, quoted(value, reason))


def check_at_least(tree: Tree, least: int, keys: Iterable[str], code: str, path: Path, found: Found) -> None:
    """Reports numbers at `keys` below `least`."""
    for key in keys:
        value = tree.get(key)
        if type(value) is int and value < least:
            found.tell((*path, key), code, f"must be at least {least}, not {value}")


def check_between(tree: Tree, least: int, most: int, keys: Iterable[str], code: str, path: Path, found: Found) -> None:
    """Reports numbers at `keys` outside `least` to `most`."""
    for key in keys:
        value = tree.get(key)
        if type(value) is int and not least <= value <= most:
            found.tell((*path, key), code, f"must be between {least} and {most}, not {value}")


def check_count(count: int, most: int, what: str, code: str, path: Path, found: Found) -> None:
    """Reports a list at `path`, called `what`, with more than `most` entries."""
    if count > most:
        found.tell(path, code, f"must have at most {most} {what}, not {count}")


def check_one_of(tree: Tree, keys: Iterable[str], what: str, code: str, path: Path, found: Found) -> str:
    """The one of `keys` that `tree` sets; none or several is a problem."""
    present = [key for key in keys if tree.get(key) is not None]
    if len(present) == 1:
        return present[0]
    if present:
        message = f"has {len(present)} {what}s, but only one is allowed: {', '.join(present)}"
        found.tell(path, code, message, "keep one of them")
    else:
        found.tell(path, code, f"has no {what}", f"write one of {', '.join(list(keys)[:5])}")
    return ""

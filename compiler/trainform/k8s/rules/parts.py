"""What the rules for rendered objects share: reading trees of uncertain shape, and checks of names.

A rule appends what it finds to a list and returns nothing, so that a valid object costs no more than the
look at its fields. What a schema says already (types, enums, missing fields, repeated keys of a list) no
rule says again: a field of a wrong type reads as absent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

from trainform.diagnostics import Path
from trainform.k8s import names
from trainform.k8s.schema.messages import SchemaProblem
from trainform.k8s.tree import Tree

Found = list[SchemaProblem]
"""The problems found so far: rules append to it."""

NameRule = Callable[[str], "str | None"]
"""Why a name is refused, or None: the checks of `trainform.k8s.names`."""

# Every job uses the same few names, so each is looked at once.
dns1035_label: NameRule = lru_cache(names.dns1035_label)
dns1123_label: NameRule = lru_cache(names.dns1123_label)
dns1123_subdomain: NameRule = lru_cache(names.dns1123_subdomain)
qualified_name: NameRule = lru_cache(names.qualified_name)
label_value: NameRule = lru_cache(names.label_value)
env_var_name: NameRule = lru_cache(names.env_var_name)

LARGEST_ID = 2**31 - 1
"""The largest user or group, and the largest 32-bit count."""


def table(tree: Tree, key: str) -> Tree:
    """The mapping at `key`; empty where there is none."""
    value = tree.get(key)
    return value if type(value) is dict else {}


def tables(tree: Tree, key: str) -> list[Tree]:
    """The mappings of the list at `key`, in their places: an entry that is none reads as empty."""
    value = tree.get(key)
    if type(value) is not list:
        return []
    for entry in value:
        if type(entry) is not dict:
            return [each if type(each) is dict else {} for each in value]
    return value


def text(tree: Tree, key: str) -> str:
    """The string at `key`; empty where there is none."""
    value = tree.get(key)
    return value if type(value) is str else ""


def texts(tree: Tree, key: str) -> list[str]:
    """The strings of the list at `key`, in their places: an entry that is none reads as empty."""
    value = tree.get(key)
    if type(value) is not list:
        return []
    return [entry if type(entry) is str else "" for entry in value]


def number(tree: Tree, key: str) -> int | None:
    """The integer at `key`, or None where there is none."""
    value = tree.get(key)
    return value if type(value) is int else None


def replicas(job: Tree) -> int:
    """How many Jobs a replicated job makes; JobSet's default is one."""
    count = number(job, "replicas")
    return 1 if count is None else count


def check_name(tree: Tree, key: str, rule: NameRule, code: str, path: Path, found: Found) -> None:
    """Report the name at `key` of `tree`, itself at `path`, where `rule` refuses it; absent is fine."""
    value = tree.get(key)
    if type(value) is str and value and (reason := rule(value)):
        found.append(SchemaProblem((*path, key), code, f'"{value}" {reason}'))


def check_at_least(tree: Tree, least: int, keys: Iterable[str], code: str, path: Path, found: Found) -> None:
    """Report the numbers at `keys` that are below `least`."""
    for key in keys:
        value = tree.get(key)
        if type(value) is int and value < least:
            found.append(SchemaProblem((*path, key), code, f"must be at least {least}, not {value}"))


def check_one_of(tree: Tree, keys: Iterable[str], what: str, code: str, path: Path, found: Found) -> str:
    """The one of `keys` that `tree` has a value for; another number than one is a problem."""
    present = [key for key in keys if tree.get(key) is not None]
    if len(present) == 1:
        return present[0]
    if present:
        message = f"has {len(present)} {what}s, but only one is allowed: {', '.join(present)}"
        found.append(SchemaProblem(path, code, message, "remove all but one"))
    else:
        found.append(SchemaProblem(path, code, f"has no {what}", f"write one of {_some(keys)}"))
    return ""


def _some(keys: Iterable[str]) -> str:
    """The first few of `keys`: enough to see what is meant."""
    return ", ".join(list(keys)[:5])


def domain_path(name: str) -> str | None:
    """Why a `managedBy` is refused: it names a controller as `domain/name`, in at most 63 characters."""
    domain, slash, rest = name.partition("/")
    if not slash or not rest or dns1123_subdomain(domain):
        return "must be a domain and a name separated by `/`, such as `kueue.x-k8s.io/multikueue`"
    if len(name) > names.LABEL_LENGTH:
        return f"must be at most {names.LABEL_LENGTH} characters long, not {len(name)}"
    return None


def sequence(value: Any) -> list[Any]:
    """The list itself; empty where it is none."""
    return value if type(value) is list else []

"""What the rules for rendered objects share: the list of problems, and checks of names and numbers.

A rule appends problems to a list and returns nothing, so a valid object costs only the reading of its fields.
Rules do not repeat what the schemas check (types, enums, missing fields, duplicate list keys): they read trees
with `k8s.tree`, to which a field of the wrong type is absent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache

from trainform.diagnostics import Path
from trainform.k8s import names
from trainform.k8s.schema.messages import SchemaProblem
from trainform.k8s.tree import Tree, number


class Found(list[SchemaProblem]):
    """The problems found so far: rules add to it."""

    def tell(self, path: Path, code: str, message: str, hint: str = "") -> None:
        self.append(SchemaProblem(path, code, message, hint))


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


def replicas(job: Tree) -> int:
    """How many Jobs a replicated job makes; JobSet's default is one."""
    count = number(job, "replicas")
    return 1 if count is None else count


def check_name(tree: Tree, key: str, rule: NameRule, code: str, path: Path, found: Found) -> None:
    """Report the name at `key` of `tree`, itself at `path`, where `rule` refuses it; absent is fine."""
    value = tree.get(key)
    if type(value) is str and value and (reason := rule(value)):
        found.tell((*path, key), code, f'"{value}" {reason}')


def check_at_least(tree: Tree, least: int, keys: Iterable[str], code: str, path: Path, found: Found) -> None:
    """Report the numbers at `keys` that are below `least`."""
    for key in keys:
        value = tree.get(key)
        if type(value) is int and value < least:
            found.tell((*path, key), code, f"must be at least {least}, not {value}")


def check_one_of(tree: Tree, keys: Iterable[str], what: str, code: str, path: Path, found: Found) -> str:
    """The one of `keys` that `tree` has a value for; another number than one is a problem."""
    present = [key for key in keys if tree.get(key) is not None]
    if len(present) == 1:
        return present[0]
    if present:
        message = f"has {len(present)} {what}s, but only one is allowed: {', '.join(present)}"
        found.tell(path, code, message, "keep one of them")
    else:
        found.tell(path, code, f"has no {what}", f"write one of {_some(keys)}")
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

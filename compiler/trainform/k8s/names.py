"""Which names Kubernetes accepts: each rule returns why it refuses a name, or None.

The rules are those of `k8s.io/apimachinery/pkg/util/validation`. A reason reads on after the name
of the field: `metadata.name` "must be at most 63 characters long, not 70".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

NameRule = Callable[[str], "str | None"]

LABEL_LENGTH = 63
"""The longest RFC 1035 or RFC 1123 label, label value, and name part of a label key."""

SUBDOMAIN_LENGTH = 253
"""The longest RFC 1123 subdomain."""

_LABEL = "[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_QUALIFIED = "[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?"
_QUALIFIED_WORDS = "must consist of letters, digits, `-`, `_` and `.`, and start and end with a letter or digit"
_PORT_WORDS = "must consist of lowercase letters, digits and single `-` between them, with at least one letter"


def name_rule(
    pattern: str, words: str, longest: int | None = None, empty: str | None = "must not be empty"
) -> NameRule:
    """A rule for names that match all of `pattern`; `words` is its reason, `empty` that for an empty name.

    Answers are cached: all jobs use the same few names.
    """
    fits = re.compile(pattern).fullmatch

    @lru_cache
    def reason(name: str) -> str | None:
        if not name:
            return empty
        if longest and len(name) > longest:
            return f"must be at most {longest} characters long, not {len(name)}"
        return None if fits(name) else words

    return reason


dns1035_label = name_rule(
    "[a-z](?:[-a-z0-9]*[a-z0-9])?",
    "must consist of lowercase letters, digits and `-`, start with a letter and end with a letter or digit",
    LABEL_LENGTH,
)
"""An RFC 1035 label: a JobSet, a replicated job, a service."""

dns1123_label = name_rule(
    _LABEL,
    "must consist of lowercase letters, digits and `-`, and start and end with a letter or digit",
    LABEL_LENGTH,
)
"""An RFC 1123 label: a namespace, a container, a volume."""

dns1123_subdomain = name_rule(
    rf"{_LABEL}(?:\.{_LABEL})*",
    "must consist of parts separated by `.`, each made of lowercase letters, digits and `-`, "
    "starting and ending with a letter or digit",
    SUBDOMAIN_LENGTH,
)
"""An RFC 1123 subdomain: most objects, such as a ConfigMap or a runtime."""

label_value = name_rule(_QUALIFIED, _QUALIFIED_WORDS, LABEL_LENGTH, empty=None)
"""The value of a label, which may be empty."""

env_var_name = name_rule("[ -<>-~]+", "must consist of printable ASCII characters other than `=`")
"""The name of an environment variable, by the wider rule that holds since Kubernetes 1.34."""

port_name = name_rule("(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*", _PORT_WORDS, 15, empty=_PORT_WORDS)
"""The name of a port: an IANA service name."""

_local_name = name_rule(_QUALIFIED, _QUALIFIED_WORDS, LABEL_LENGTH)


@lru_cache
def qualified_name(name: str) -> str | None:
    """The key of a label or annotation, or a resource: `name`, or `prefix.example.com/name`."""
    prefix, slash, local = name.rpartition("/")
    if slash and (reason := dns1123_subdomain(prefix)):
        return f"has an invalid prefix before the `/`, which {reason}"
    return _local_name(local)


def domain_path(name: str) -> str | None:
    """A controller in `managedBy`: `domain/name`."""
    domain, slash, rest = name.partition("/")
    if not slash or not rest or dns1123_subdomain(domain):
        return "must be a domain and a name separated by `/`, such as `kueue.x-k8s.io/multikueue`"
    if len(name) > LABEL_LENGTH:
        return f"must be at most {LABEL_LENGTH} characters long, not {len(name)}"
    return None


def quoted(name: str, reason: str) -> str:
    """What is wrong with `name`, which may be empty."""
    return f'"{name}" {reason}' if name else reason

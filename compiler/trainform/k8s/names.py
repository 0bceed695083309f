"""Kubernetes' name rules from `k8s.io/apimachinery/pkg/util/validation`. A rule returns None or a reason that completes
the field name, as in `metadata.name` "must be at most 63 characters long, not 70"."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

NameRule = Callable[[str], "str | None"]

LABEL_LENGTH = 63
"""Maximum length of an RFC 1035 or RFC 1123 label, a label value, and the name part of a label key."""

SUBDOMAIN_LENGTH = 253
"""Maximum length of an RFC 1123 subdomain."""

_LABEL = "[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_QUALIFIED = "[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?"
_QUALIFIED_WORDS = "must consist of letters, digits, `-`, `_` and `.`, and start and end with a letter or digit"
_PORT_WORDS = "must consist of lowercase letters, digits and single `-` between them, with at least one letter"


def name_rule(
    pattern: str, words: str, longest: int | None = None, empty: str | None = "must not be empty"
) -> NameRule:
    """A cached rule for names that match all of `pattern`; `words` is its reason, `empty` the one for empty names."""

    @lru_cache
    def reason(name: str) -> str | None:
        if not name:
            return empty
        if longest and len(name) > longest:
            return f"must be at most {longest} characters long, not {len(name)}"
        return None if re.fullmatch(pattern, name) else words

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
"""A label value, which may be empty."""

env_var_name = name_rule("[ -<>-~]+", "must consist of printable ASCII characters other than `=`")
"""An environment variable name, by the relaxed rule of Kubernetes 1.34."""

port_name = name_rule("(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*", _PORT_WORDS, 15, empty=_PORT_WORDS)
"""A port name: an IANA service name."""

_local_name = name_rule(_QUALIFIED, _QUALIFIED_WORDS, LABEL_LENGTH)

config_key = name_rule(
    r"(?!\.(?:\.|\Z))[-._a-zA-Z0-9]+",
    "must consist of letters, digits, `-`, `_` and `.`, and not start with `..`",
    SUBDOMAIN_LENGTH,
)
"""A key of a ConfigMap or a Secret."""


@lru_cache
def qualified_name(name: str) -> str | None:
    """A label key, annotation key or resource name: `name` or `prefix.example.com/name`."""
    prefix, slash, local = name.rpartition("/")
    if slash and (reason := dns1123_subdomain(prefix)):
        return f"has an invalid prefix before the `/`, which {reason}"
    return _local_name(local)


def domain_path(name: str) -> str | None:
    """A `managedBy` controller: `domain/name`."""
    domain, slash, rest = name.partition("/")
    if not slash or not rest or dns1123_subdomain(domain):
        return "must be a domain and a name separated by `/`, such as `kueue.x-k8s.io/multikueue`"
    if len(name) > LABEL_LENGTH:
        return f"must be at most {LABEL_LENGTH} characters long, not {len(name)}"
    return None


def quoted(name: str, reason: str) -> str:
    """The reason, prefixed with `name` unless that is empty."""
    return f'"{name}" {reason}' if name else reason

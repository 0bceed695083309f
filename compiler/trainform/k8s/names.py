"""Which names Kubernetes accepts: each check returns why one is wrong, or None where it is right.

The rules are those of `k8s.io/apimachinery/pkg/util/validation`. A reason reads on after the name
of the field: `metadata.name` "must be at most 63 characters long, and has 70".
"""

from __future__ import annotations

import re

LABEL_LENGTH = 63
"""The longest RFC 1035 or RFC 1123 label, label value, and name part of a label key."""

SUBDOMAIN_LENGTH = 253
"""The longest RFC 1123 subdomain."""

_LABEL = "[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_DNS1035_LABEL = re.compile("[a-z](?:[-a-z0-9]*[a-z0-9])?")
_DNS1123_LABEL = re.compile(_LABEL)
_DNS1123_SUBDOMAIN = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_QUALIFIED = re.compile("[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?")
_ENV_VAR = re.compile("[ -<>-~]+")

_DNS1035_RULE = "must consist of lowercase letters, digits and `-`, start with a letter and end with a letter or digit"
_DNS1123_RULE = "must consist of lowercase letters, digits and `-`, and start and end with a letter or digit"
_SUBDOMAIN_RULE = (
    "must consist of parts separated by `.`, each made of lowercase letters, digits and `-`, "
    "starting and ending with a letter or digit"
)
_QUALIFIED_RULE = "must consist of letters, digits, `-`, `_` and `.`, and start and end with a letter or digit"


def dns1035_label(name: str) -> str | None:
    """An RFC 1035 label: a JobSet, a replicated job, a service."""
    return _reason(name, _DNS1035_LABEL, _DNS1035_RULE, LABEL_LENGTH)


def dns1123_label(name: str) -> str | None:
    """An RFC 1123 label: a namespace, a container, a volume."""
    return _reason(name, _DNS1123_LABEL, _DNS1123_RULE, LABEL_LENGTH)


def dns1123_subdomain(name: str) -> str | None:
    """An RFC 1123 subdomain: most objects, such as a ConfigMap or a runtime."""
    return _reason(name, _DNS1123_SUBDOMAIN, _SUBDOMAIN_RULE, SUBDOMAIN_LENGTH)


def qualified_name(name: str) -> str | None:
    """The key of a label or annotation, or a resource: `name`, or `prefix.example.com/name`."""
    prefix, slash, local = name.rpartition("/")
    if slash and (reason := dns1123_subdomain(prefix)):
        return f"has an invalid prefix before the `/`, which {reason}"
    return _reason(local, _QUALIFIED, _QUALIFIED_RULE, LABEL_LENGTH)


def label_value(value: str) -> str | None:
    """The value of a label, which may be empty."""
    return _reason(value, _QUALIFIED, _QUALIFIED_RULE, LABEL_LENGTH) if value else None


def env_var_name(name: str) -> str | None:
    """The name of an environment variable, by the wider rule that holds since Kubernetes 1.34."""
    rule = "must consist of printable ASCII characters other than `=`"
    return _reason(name, _ENV_VAR, rule, longest=None)


def _reason(name: str, pattern: re.Pattern[str], rule: str, longest: int | None) -> str | None:
    if not name:
        return "must not be empty"
    if longest and len(name) > longest:
        return f"must be at most {longest} characters long, not {len(name)}"
    return None if pattern.fullmatch(name) else rule

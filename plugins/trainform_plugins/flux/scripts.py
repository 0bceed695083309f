"""A Flux job's scripts, from templates, with the command's words quoted for the shell."""

from __future__ import annotations

import pkgutil
import re
import shlex
from functools import cache

from jinja2 import Environment, StrictUndefined, Template

from trainform.plugin import Tree

REFERENCE = re.compile(r"\$\$|\$\(([A-Za-z_][A-Za-z0-9_]*)\)")
"""What Kubernetes replaces in commands: an escaped dollar, and a variable."""


def render(values: Tree) -> dict[str, str]:
    """Both scripts by file name; `values` are the templates' values, with `words` as the user wrote them."""
    quoted = {**values, "words": [_word(word) for word in values["words"]]}
    return {name: _template(name).render(quoted) for name in ("entrypoint.sh", "init.sh")}


def _word(text: str) -> str:
    """One word of a command, quoted for the shell but with working Kubernetes `$(VAR)` references. A reference to
    an unset variable is kept, and `$$` is a dollar. Source: Kubernetes' documentation of `command` in Container v1
    core."""
    shell, end = "", 0
    for match in REFERENCE.finditer(text):
        name = match[1]
        shell += _quote(text[end : match.start()])
        shell += f'"${{{name}-\\$({name})}}"' if name else "'$'"
        end = match.end()
    return shell + _quote(text[end:]) or "''"


def _quote(text: str) -> str:
    return shlex.quote(text) if text else ""


@cache
def _template(name: str) -> Template:
    text = pkgutil.get_data(__package__, f"templates/{name}.j2") or b""
    environment = Environment(
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    return environment.from_string(text.decode())

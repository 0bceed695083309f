"""Lints about references to variables that nobody replaces."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from trainform.plugin import Path, Tree, did_you_mean
from trainform_plugins.lints.finished import Finished

REFERENCE = r"(?<!\$)\$\(([A-Za-z_][A-Za-z0-9_.-]*)\)"
"""Kubernetes' own: `$(NAME)`; `$$(NAME)` is not one."""

SHELL_VARIABLE = r"(?<!\$)\$(?:([A-Z_][A-Z0-9_]*)|\{([A-Z_][A-Z0-9_]*)\})"
"""A shell's: `$NAME` or `${NAME}`, in capitals, since configuration tools use the others."""

SHELLS = frozenset(["sh", "bash", "dash", "zsh", "ksh", "ash"])
RUNS_TEXT = r"-[a-z]*c$"
"""`-c`, `-ec`, `-lc`: the shell's options before its text."""

SERVICE = r"[A-Z0-9_]+_(?:SERVICE_(?:HOST|PORT)|PORT)(?:_[A-Z0-9_]+)?"
"""Variables that Kubernetes adds for each Service of the namespace, `KUBERNETES_SERVICE_HOST` among them."""

INSTEAD = {
    "PET_RDZV_ENDPOINT": "$(PET_MASTER_ADDR):$(PET_MASTER_PORT)",
    "MASTER_ADDR": "$(PET_MASTER_ADDR)",
    "MASTER_PORT": "$(PET_MASTER_PORT)",
    "NODE_RANK": "$(PET_NODE_RANK)",
    "RANK": "$(PET_NODE_RANK), which is the node's; torchrun sets RANK for each process",
    "WORLD_SIZE": "$(PET_NNODES), the nodes; torchrun sets WORLD_SIZE for each process",
    "LOCAL_RANK": "nothing: torchrun sets LOCAL_RANK for each process that it starts",
}
"""For a torch job: what takes the place of variables that the first operator set, or that torchrun sets later."""


class _Container(NamedTuple):
    """What can be expanded in a container: `names` of its variables in order."""

    tree: Tree
    names: list[str]
    is_open: bool
    """Whether `envFrom` may add any variable."""
    runs_shell: bool


def unresolved_references(job: Finished) -> None:
    """Nobody replaces `$(NAME)` if the container has no such variable, or `$NAME` without a shell.

    Why: Kubernetes leaves unknown references as they are, and reads `env` from top to bottom; only shells know `$NAME`.
    Bites: manifests of the first operator (`$(WORLD_SIZE)`), and command lines moved out of a script: torchrun stops at
    `--nnodes=$PET_NNODES`, or a path ends in a folder called `$PYTHONPATH`.
    """
    if "$" in job.plan.name:  # hosts contain it
        return
    container = None
    for pods, tree, at, text in job.texts:
        if "$" in text:
            if container is None or container.tree is not tree:
                container = _container(tree)
            for message, hint in _problems(job, container, at, text):
                job.plan.warn("TF630", message, hint=hint, **job.text(pods, tree, at))


def _container(tree: Tree) -> _Container:
    names = [str(variable.get("name")) for variable in tree.get("env") or ()]
    return _Container(tree, names, bool(tree.get("envFrom")), runs_shell(tree))


def runs_shell(container: Tree) -> bool:
    """Whether the command line starts a shell with its program as text."""
    line = [*(container.get("command") or ()), *(container.get("args") or ())]
    names = [word.rpartition("/")[2] for word in line]
    return any(
        name in SHELLS and any(re.match(RUNS_TEXT, word) for word in line[number + 1 :])
        for number, name in enumerate(names)
    )


def _problems(job: Finished, container: _Container, at: Path, text: str) -> Iterator[tuple[str, str]]:
    """Messages and hints about one text."""
    in_env = at[0] == "env"
    known = container.names[: int(at[1])] if in_env else container.names
    for name in dict.fromkeys(re.findall(REFERENCE, text)):
        if name in known or container.is_open or re.fullmatch(SERVICE, name):
            continue
        if in_env and name in container.names:
            yield (
                f"$({name}) stays as it is: {name} comes later in the list of variables",
                f"use $({name}) in command or args, which see all variables",
            )
        elif name.isupper() or in_env or not container.runs_shell:  # a shell runs $(date) as a command
            yield f"$({name}) stays as it is: the container has no variable {name}", _instead(job, container, name)
    is_expanded = container.runs_shell or not (in_env or container.tree.get("command"))  # an image's entrypoint may
    if not is_expanded:
        for name in dict.fromkeys(a or b for a, b in re.findall(SHELL_VARIABLE, text)):
            yield f"no shell expands ${name} here", _without_shell(name, known, in_env=in_env)


def _instead(job: Finished, container: _Container, name: str) -> str:
    if job.plan.framework == "torch" and name in INSTEAD:
        return f"use {INSTEAD[name]}"
    return did_you_mean(name, container.names) or f"set {name} in env, or write the value"


def _without_shell(name: str, known: list[str], *, in_env: bool) -> str:
    if name in known:
        return f"write $({name}), which Kubernetes expands"
    if in_env:
        return "write the whole value: the image's own variables are unknown here"
    return f"set {name} in env and write $({name}), or run a shell: [bash, -c, ...]"

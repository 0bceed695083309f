"""The page about variables, host names and ports, from what each plugin declares."""

from __future__ import annotations

from collections.abc import Iterator

from trainform.core.given.table import Giver, givers
from trainform.installed import installed_plugins

HEAD = """\
# What a pod is given

The variables, host names and ports that frameworks give to the pods of a job, generated from what the plugins declare.
The values are those in the third of four pods of a job called `llm` that asks for two GPUs a pod.
`trainform explain PET_NNODES` prints one of these lines, `trainform explain llm 'env[PET_NNODES]'` what set it in a
job, [`trainform run`](run.md) gives the same to local processes, and
[`trainform migrate`](migrate.md) leaves out what an old job says of them.
"""

TITLES = {
    "Kubernetes": "Every pod",
    "torch": "torch",
    "mpi": "MPI (DeepSpeed, MLX)",
    "jax": "JAX",
    "xgboost": "XGBoost",
    "flux": "Flux",
}


def page() -> str:
    ours = [each.plugin for each in installed_plugins() if each.package == "trainform"]
    lines = [HEAD]
    for giver in givers(ours):
        lines += [f"## {TITLES.get(giver.name, giver.name)}", "", *_tables(giver)]
    return "\n".join(lines).rstrip() + "\n"


def _tables(giver: Giver) -> Iterator[str]:
    variables, hosts, ports = giver.given
    yield from _table(
        "variable",
        ("value", "meaning", "where it comes from"),
        ((each.name, f"`{each.example}`", each.meaning, each.source) for each in variables),
    )
    yield from _table("host name", ("meaning",), ((each.example, each.meaning) for each in hosts))
    yield from _table(
        "port", ("who listens", "meaning"), ((str(each.number), each.listeners, each.meaning) for each in ports)
    )


def _table(first: str, others: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> Iterator[str]:
    found = [*rows]
    if not found:
        return
    yield f"| {' | '.join((first, *others))} |"
    yield f"|{'---|' * (len(others) + 1)}"
    for name, *cells in found:
        yield f"| {' | '.join((f'`{name}`', *cells))} |"
    yield ""

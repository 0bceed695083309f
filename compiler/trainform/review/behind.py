"""How every command says that jobs are behind."""

from __future__ import annotations

from trainform.diagnostics.order import counted


def are_behind(jobs: int, why: str) -> str:
    """`12 jobs are behind: runtime torch-distributed changed`."""
    return f"{counted(jobs, 'job')} {'is' if jobs == 1 else 'are'} behind: {why}"

"""The message and title of a problem, shared by the machine-readable formats."""

from __future__ import annotations

from trainform.diagnostics.codes import CODES
from trainform.diagnostics.diagnostic import Diagnostic, dotted

MOST_JOBS = 10
"""Jobs, or places, that a message names."""

STDIN = "<stdin>"
"""The file name of stdin, which services cannot show."""


def message(diagnostic: Diagnostic) -> str:
    """`spec.trainer.numNodes: must be a number`, with hint, stopped jobs and more jobs of a template on own lines."""
    field = f"{dotted(diagnostic.path)}: " if diagnostic.path else ""
    hint = f"\nhelp: {diagnostic.hint}" if diagnostic.hint else ""
    notes = filter(None, (stopped_jobs(diagnostic), of_template(diagnostic), elsewhere(diagnostic)))
    return field + diagnostic.message + hint + "".join(f"\n{note}" for note in notes)


def of_template(diagnostic: Diagnostic) -> str:
    """`and so in 3 more jobs of this template`, or empty."""
    jobs = "job" if diagnostic.alike == 1 else "jobs"
    return f"and so in {diagnostic.alike} more {jobs} of this template" if diagnostic.alike else ""


def elsewhere(diagnostic: Diagnostic) -> str:
    """`the same in 20 more places: old/b.yaml:9, old/c.yaml:9, …`, or empty."""
    if not diagnostic.also:
        return ""
    count = "1 more place" if len(diagnostic.also) == 1 else f"{len(diagnostic.also)} more places"
    named = ", ".join(f"{file}:{line}" for file, line in diagnostic.also[:MOST_JOBS])
    return f"the same in {count}: {named}{', …' if len(diagnostic.also) > MOST_JOBS else ''}"


def stopped_jobs(diagnostic: Diagnostic) -> str:
    """`stops ml/a`, or `stops 3 jobs: ml/a, ml/b, ml/c`: those that cannot be rendered because of an error outside of
    their own documents. Of many, the first are named; JSON and SARIF have them all. Empty if there are none."""
    if diagnostic.severity != "error" or not diagnostic.jobs:
        return ""
    is_one_environment = len({environment for environment, _, _ in diagnostic.jobs}) == 1
    names = ["/".join(job[1:] if is_one_environment else job) for job in diagnostic.jobs]
    count = f"{len(names)} jobs: " if len(names) > 1 else ""
    more = f" and {len(names) - MOST_JOBS} more" if len(names) > MOST_JOBS else ""
    return f"stops {count}{', '.join(names[:MOST_JOBS])}{more}"


def title(code: str) -> str:
    """The short title of a code; codes of third-party plugins have none."""
    return CODES.get(code, code)

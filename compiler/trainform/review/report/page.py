"""The report as one self-contained HTML page. jinja2 escapes every value, and a content security policy allows no
network and no script but the page's own."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup

from trainform.diagnostics.order import counted
from trainform.review.behind import are_behind
from trainform.review.cost.money import Sums
from trainform.review.diff.grouping import groups
from trainform.review.diff.html import STYLE, render_section
from trainform.review.diff.model import Diff
from trainform.review.diff.wording import VERBS, headline
from trainform.review.report.model import FleetJob, Report, StepRow, grouped

FILES = ("page.html.j2", "style.css", "script.js")
"""The page's parts, in the folder `templates` next to this file."""

MOST_CHANGES = 300
"""Most groups of changes shown with their fields."""

MOST_ERRORS = 100


def render_page(report: Report, files: Mapping[str, str]) -> str:
    """The page. `files` are the texts of `FILES`, by name."""
    environment = Environment(
        loader=DictLoader(dict(files)), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    # Keep key order, and use only ASCII inside a script.
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "ensure_ascii": True}
    environment.filters |= {"are_behind": are_behind, "counted": counted, "thousands": "{:,}".format}
    jobs = report.jobs
    script = files["script.js"]
    return environment.get_template("page.html.j2").render(
        report=report,
        jobs=jobs,
        changed={job.id: VERBS[job.change] for job in report.diff.jobs} if report.diff else {},
        groups=[
            ("By environment", ("env",), grouped(jobs, "environment")),
            ("By queue", ("queue", "env"), grouped(jobs, "shown_queue", "environment")),
            ("By framework", ("framework",), grouped(jobs, "framework")),
        ],
        data=_data(jobs),
        pods=sum(job.ask.pods for job in jobs),
        gpus=sum(job.gpus for job in jobs),
        costs=Sums.of(job.cost for job in jobs),
        states=_states(jobs),
        errors=report.errors[:MOST_ERRORS],
        more_errors=len(report.errors[MOST_ERRORS:]),
        headline=headline(report.diff) if report.diff else "",
        **_changes(report.diff),
        style=Markup(STYLE + files["style.css"]),
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )


def _states(jobs: Sequence[FleetJob]) -> dict[str, int]:
    """Number of jobs in each state, and with each verdict that may need action."""
    found = [word for job in jobs for word in (job.known.state, job.verdict)]
    return {
        word: found.count(word) for word in ("up to date", "behind", "to render", "missing", "error", "waits", "never")
    }


def _changes(diff: Diff | None) -> dict[str, Any]:
    """The changes as HTML, and the number of omitted jobs: those with the least severe changes."""
    if diff is None:
        return {"changes": "", "more_changes": 0}
    told = groups(diff.jobs)
    jobs = [job for group in told[:MOST_CHANGES] for job in group]
    behind = [job for job in diff.jobs if job.change == "behind"]
    shown = replace(diff, jobs=[*jobs, *behind])
    return {
        "changes": Markup("".join(render_section(shown))),
        "more_changes": len(diff.jobs) - len(shown.jobs),
    }


def _data(jobs: Sequence[FleetJob]) -> dict[str, Any]:
    """The script's data, row by row; steps and texts that jobs share are stored once."""
    steps: dict[tuple[StepRow, ...], int] = {}
    texts: dict[str, int] = {}
    told = [
        [
            steps.setdefault(job.steps, len(steps)),
            texts.setdefault(job.known.runtime, len(texts)),
            texts.setdefault(job.reason, len(texts)),
            texts.setdefault(str(job.cost or ""), len(texts)),
            [texts.setdefault(note, len(texts)) for note in job.known.notes],
        ]
        for job in jobs
    ]
    return {"jobs": told, "steps": list(steps), "texts": list(texts), "sweeps": _sweeps(jobs)}


def _sweeps(jobs: Sequence[FleetJob]) -> list[tuple[str, list[int]]]:
    """Each template that makes several jobs of one environment, with their places in the table."""
    found: dict[tuple[str, str], list[int]] = {}
    for place, job in enumerate(jobs):
        if job.known.template:
            found.setdefault((job.environment, job.known.template), []).append(place)
    return [(template, places) for (_, template), places in found.items() if len(places) > 1]

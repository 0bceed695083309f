"""Old jobs migrated, and what trainform renders of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from trainform import compile_stream, source
from trainform.migrate.program import Migration, migrate

OLD = Path(__file__).parents[1] / "unit" / "migrate" / "old"
FILES = sorted(OLD.glob("*.yaml"))
"""Old jobs of every kind."""


def migrated(text: str, file: str = "old.yaml") -> Migration:
    loaded = source.load(text, file)
    return migrate(loaded.documents, loaded.diagnostics)


def stream(found: Migration) -> str:
    """All files that the migration would write."""
    return "---\n".join([*(each.text for each in (*found.runtimes, *found.jobs)), *found.edited.values()])


def rendered(found: Migration) -> list[dict[str, Any]]:
    """The compiled jobs, none of which has an error."""
    result = compile_stream(stream(found))
    told = [*result["diagnostics"], *(each for job in result["jobs"] for each in job["diagnostics"])]
    assert [each for each in told if each["severity"] == "error"] == []
    jobs: list[dict[str, Any]] = result["jobs"]
    return jobs


def jobset(found: Migration) -> dict[str, Any]:
    """The JobSet of the only job."""
    (job,) = rendered(found)
    return next(each for each in job["objects"] if each["kind"] == "JobSet")


def train_job(found: Migration) -> dict[str, Any]:
    """The only TrainJob."""
    tree: dict[str, Any] = next(iter(yaml.safe_load_all(found.jobs[0].text)))
    return tree


def codes(found: Migration) -> list[tuple[str, str, int]]:
    """Code, field and line of all that is told."""
    trees = [each.to_json() for each in found.diagnostics]
    return [(each["code"], each["field"], each["line"]) for each in trees]

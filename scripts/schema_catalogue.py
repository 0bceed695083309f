"""Prepares a pull request that offers our schemas in a catalogue of schemas, from which editors take them by file name.

    python scripts/schema_catalogue.py ADDRESS DIR

ADDRESS is that under which the catalogue serves schemas. DIR gets what the catalogue asks for: `catalog.json` with the
entries for its list, `schemas/` with the schemas, and examples in `test/` and `negative_test/`. Nothing is sent.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

from trainform.io.settings import FILE
from trainform.workspace.json_schema.catalogue import schemas, text_of
from trainform.workspace.json_schema.names import ANY

PROJECT = Path(__file__).parents[1]


class Entry(NamedTuple):
    """A schema as the catalogue has it. `files` are names by which editors choose it; nobody chooses a schema without
    them but by hand, which is right where a name says nothing of the contents."""

    schema: str
    name: str
    title: str
    files: tuple[str, ...]
    good: dict[str, str]
    bad: dict[str, str]


def entries() -> list[Entry]:
    """With examples: our own settings and jobs, and mistakes that people make."""
    settings = 'jobs: training/jobs\nlints: {TF608: "off"}\nplugins:\n  required: {acme-trainform: ">=1.2,<2"}\n'
    job = (PROJECT / "jobs/nlp/llama-sft.yaml").read_text(encoding="utf-8")
    environment = (PROJECT / "environments/prod-kueue/environment.yaml").read_text(encoding="utf-8")
    return [
        Entry(
            FILE,
            "trainform",
            "trainform.yaml",
            (FILE,),
            {"settings": settings},
            {"unknown-key": "job: training/jobs\n", "no-severity": "lints: {TF608: sometimes}\n"},
        ),
        Entry(
            ANY,
            "trainform-documents",
            "Kubeflow TrainJob, runtime or trainform Environment",
            (),
            {"job": job, "environment": environment},
            {"unknown-field": job.replace("runtimeRef:", "runtimeReference:")},
        ),
    ]


def files(address: str) -> dict[str, str]:
    """Every file of the pull request, by its path in the catalogue."""
    found = {"catalog.json": _json([_listed(each, address) for each in entries()])}
    for each in entries():
        made = schemas()[each.schema].make()
        found[f"schemas/{each.name}.json"] = text_of({"$id": f"{address}/{each.name}.json", **made})
        found |= {f"test/{each.name}/{name}.yaml": text for name, text in each.good.items()}
        found |= {f"negative_test/{each.name}/{name}.yaml": text for name, text in each.bad.items()}
    return found


def _listed(entry: Entry, address: str) -> dict[str, Any]:
    about = schemas()[entry.schema].make()["description"]
    return {
        "name": entry.title,
        "description": about,
        **({"fileMatch": [*entry.files]} if entry.files else {}),
        "url": f"{address}/{entry.name}.json",
    }


def _json(value: Any) -> str:
    return json.dumps(value, indent=2) + "\n"


def main(address: str, folder: Path) -> None:
    for name, text in files(address.rstrip("/")).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: schema_catalogue.py ADDRESS DIR")
    main(sys.argv[1], Path(sys.argv[2]))

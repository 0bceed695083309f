"""The index of the pages about codes.

Each page, `docs/codes/TF605.md`, is written by hand: cause, an example if one stream can show it, and the cure."""

from __future__ import annotations

from pathlib import Path

from trainform.diagnostics.codes import CODES

FOLDER = Path(__file__).parents[2] / "docs" / "codes"

GROUPS = {
    "TF0": "Source text",
    "TF1": "Shape of an object",
    "TF2": "References between objects",
    "TF3": "Rules for a TrainJob",
    "TF4": "Rules for a runtime",
    "TF5": "Rendered objects",
    "TF6": "Lints",
    "TF7": "The repository",
    "TF8": "Migration and local runs",
    "TF9": "Bugs in trainform and its plugins",
    "TFD": "Deliberate deviations from the controller",
}


def index() -> str:
    """All codes by group, each with a link to its page, if it has one."""
    lines = [
        "# Codes",
        "",
        "What each code means, an example, and the cure. Change severities as [Lints](../lints.md) says.",
    ]
    for start, title in GROUPS.items():
        lines += ["", f"## {start}…: {title}", ""]
        lines += [f"- {_name(code)}: {CODES[code]}" for code in CODES if code.startswith(start)]
    return "\n".join(lines) + "\n"


def _name(code: str) -> str:
    return f"[{code}]({code}.md)" if (FOLDER / f"{code}.md").exists() else code

"""The page of each code: cause, example and cure."""

from __future__ import annotations

from trainform.diagnostics.codes import CODES

BASE = "docs/codes"
"""The folder or the address of the pages, without a trailing slash: the one place to change when they move."""


def page(code: str) -> str:
    """The page of a code; codes of third-party plugins have none."""
    return f"{BASE}/{code}.md" if code in CODES else ""


def help_of(code: str) -> dict[str, object]:
    """`help` of a SARIF rule, and `helpUri` if the pages have an address: SARIF allows no relative one there."""
    where = page(code)
    if not where:
        return {}
    uri = {"helpUri": where} if "://" in where else {}
    return {"help": {"text": f"Cause, example and cure: {where}"}, **uri}

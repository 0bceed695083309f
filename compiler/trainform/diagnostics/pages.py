"""The page of each code: cause, example and cure."""

from __future__ import annotations

from collections.abc import Collection

from trainform.diagnostics.codes import CODES

BASE = "docs/codes"
"""The folder or the address of the pages, without a trailing slash: the one place to change when they move."""


def page(code: str) -> str:
    """The page of a code; codes of third-party plugins have none."""
    return f"{BASE}/{code}.md" if code in CODES else ""


def help_of(code: str, text: str) -> dict[str, object]:
    """`help` of a SARIF rule with the `text` of its page, which code scanning shows beside each finding; and `helpUri`
    if the pages have an address: SARIF allows no relative one there."""
    where = page(code)
    if not where:
        return {}
    uri = {"helpUri": where} if "://" in where else {}
    return {"help": {"text": text, "markdown": text}, **uri}


def explained(codes: Collection[str]) -> str:
    """How to read the pages of these codes, wherever trainform is installed: `trainform explain TF608`."""
    known = sorted(code for code in codes if code in CODES)
    if len(known) > 1:
        return f"cause and cure of each code: trainform explain CODE, such as {known[0]}"
    return f"cause and cure: trainform explain {known[0]}" if known else ""

"""Builds the site of docs/ into build/site/html, and fails where anything in it leads nowhere.

    ./dev site

Needs only zensical. With TRAINFORM_PROJECT_URL, the page of the project, links to files that are no pages lead there;
without it they are plain text: no file names an address.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from website.check import faults
from website.stage import stage

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "site"
PAGES, HTML = BUILD / "pages", BUILD / "html"
"""Below BUILD, as zensical.toml names them."""


def main() -> int:
    shutil.rmtree(BUILD, ignore_errors=True)
    stage(ROOT, PAGES, os.environ.get("TRAINFORM_PROJECT_URL", ""))
    here = Path(__file__).parent
    shutil.copy(here / "style.css", PAGES)
    shutil.copy(here / "zensical.toml", BUILD)
    command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
    built = subprocess.run(command, cwd=BUILD, env={**os.environ, "NO_COLOR": "1"}, check=False)
    if built.returncode:
        return built.returncode
    found = faults(HTML)
    for fault in found:
        print(fault, file=sys.stderr)
    print(f"{len(found)} faults" if found else f"wrote {HTML.relative_to(ROOT)}/index.html", file=sys.stderr)
    return 1 if found else 0


sys.exit(main())

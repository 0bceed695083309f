"""Makes the pictures in docs/pictures: the example of docs/diff.md as a comment, and its report.

    .venv/bin/python -m pip install markdown-it-py
    .venv/bin/python scripts/pictures.py

Needs Chromium and git. The comment is what `trainform diff --format markdown` prints, turned into HTML by a
library that knows tables, in a plain frame; no forge's own style is copied. Coloured discs are drawn, since not every
machine has a font for them.
"""

from __future__ import annotations

import base64
import importlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs" / "pictures"
sys.path.insert(0, str(ROOT / "tests"))

from end_to_end import diff_story  # noqa: E402
from support.chromium import Browser  # noqa: E402
from support.repositories import Repository  # noqa: E402

FRAME = """\
<!doctype html>
<meta charset="utf-8">
<style>
body { font: 14px/1.5 system-ui, sans-serif; margin: 0; padding: 16px; width: 1000px; color: #1f2328; }
main { border: 1px solid #d1d9e0; border-radius: 6px; padding: 4px 16px 12px; }
h3 { font-size: 1.25em; margin: 12px 0; }
p, ul, blockquote, table { margin: 0 0 12px; }
ul { padding-left: 1.5em; }
details { margin: 0 0 12px; }
summary { margin-bottom: 8px; }
blockquote { border-left: 4px solid #d1d9e0; color: #59636e; padding: 0 1em; }
blockquote p { margin: 0; }
table { border-collapse: collapse; }
th, td { border: 1px solid #d1d9e0; padding: 5px 11px; text-align: left; }
tr:nth-child(2n) td { background: #f6f8fa; }
code { font: 12px ui-monospace, monospace; background: #818b981f; border-radius: 5px; padding: 2px 4px; }
code { overflow-wrap: anywhere; }
.disc { display: inline-block; width: 0.8em; height: 0.8em; border-radius: 50%; }
sub { font-size: 12px; vertical-align: baseline; color: #59636e; }
</style>
<main>
"""
DISCS = {"🔴": "#c62828", "🟠": "#e8710a", "🟡": "#e3b008", "🟢": "#2e7d32", "🔵": "#1565c0"}
OPEN_THE_SECOND = "document.querySelectorAll('details')[1].open = true"


def main() -> None:
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        root = story(place / "story")
        comment, report = place / "comment.html", place / "report.html"
        comment.write_text(FRAME + as_html(trainform(root, "diff", "--format", "markdown")) + "</main>\n")
        report.write_text(trainform(root, "report"))
        browser = Browser(place / "profile")
        browser.start()
        try:
            browser.open(comment, 1032, ready="main")
            picture(browser, "diff-comment.png", OPEN_THE_SECOND)
            for scheme in ("light", "dark"):
                browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
                browser.open(report, 1100, fragment="#q=nlp/llm")
                picture(browser, f"report-{scheme}.png", "document.querySelector('#table tbody button').click()")
        finally:
            browser.close()


def story(root: Path) -> Path:
    repository = Repository(root)
    repository.start_git()
    diff_story.before(repository)
    trainform(root, "render")
    repository.commit()
    diff_story.change(repository)
    return root


def trainform(root: Path, *arguments: str) -> str:
    """What a command prints. Its findings do not matter here, as its exit code tells them."""
    command = [sys.executable, "-m", "trainform", *arguments, "--root", str(root)]
    ran = subprocess.run(command, env={**os.environ, "NO_COLOR": "1"}, capture_output=True, text=True, check=False)
    assert ran.returncode in (0, 1), ran.stderr
    return ran.stdout


def as_html(markdown: str) -> str:
    # Looked up by name: nothing but this script needs it.
    parser: Any = importlib.import_module("markdown_it").MarkdownIt("commonmark", {"html": True}).enable("table")
    page = str(parser.render(markdown))
    for disc, colour in DISCS.items():
        page = page.replace(disc, f'<span class="disc" style="background: {colour}"></span>')
    return page


def picture(browser: Browser, name: str, script: str) -> None:
    """The whole page, after a script has run in it."""
    browser.ask(script)
    browser.ask("new Promise(done => setTimeout(done, 300))")
    width, height = browser.ask("[document.documentElement.clientWidth, document.documentElement.offsetHeight]")
    clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
    shot = browser.call("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
    (PICTURES / name).write_bytes(base64.b64decode(shot["data"]))
    print(f"wrote {(PICTURES / name).relative_to(ROOT)}")


if __name__ == "__main__":
    main()

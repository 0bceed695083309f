"""Records what a version makes of the repository in tests/recorded/repository, so that later versions are held to it.

    scripts/record_release.py NAME [CHECKOUT]

NAME is a folder of tests/recorded: the version that is released. CHECKOUT is a checkout of that version; without it,
this one. A recording is never changed: a version that cannot read it would render every job of every repository again.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[1]
RECORDED = PROJECT / "tests" / "recorded"


def main(name: str, checkout: Path = PROJECT) -> None:
    folder = RECORDED / name
    if folder.exists():
        sys.exit(f"{folder} exists: a recording is never changed")
    shutil.copytree(RECORDED / "repository", folder)
    packages = os.pathsep.join(str(checkout / package) for package in ("compiler", "plugins"))
    command = [sys.executable, "-m", "trainform", "render", "--root", str(folder)]
    if subprocess.run(command, env={**os.environ, "PYTHONPATH": packages}).returncode:
        shutil.rmtree(folder)
        sys.exit("that version cannot render the repository")


if __name__ == "__main__":
    main(sys.argv[1], *map(Path, sys.argv[2:]))

"""Pins what CI, the images and a release install, with the hash of every file: ci/requirements.txt with its copy in
ci/gitlab.yml, ci/requirements-build.txt and ci/requirements-release.txt.

    python scripts/lock_dependencies.py            # the newest versions that pyproject.toml allows; needs uv
    python scripts/lock_dependencies.py --verify   # and then: is there a wheel for each Python and platform?

One file serves every Python and platform: it lists the hashes of all wheels of a version.
"""

from __future__ import annotations

import argparse
import itertools
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path

PROJECT = Path(__file__).parent.parent
CI = PROJECT / "ci"
RUN, BUILD, RELEASE = CI / "requirements.txt", CI / "requirements-build.txt", CI / "requirements-release.txt"
GITLAB = CI / "gitlab.yml"

OLDEST_PYTHON = "3.11"
PYTHONS = (OLDEST_PYTHON, "3.12", "3.13", "3.14")
PLATFORMS = (
    ("manylinux_2_17_x86_64", "manylinux_2_28_x86_64"),
    ("manylinux_2_17_aarch64", "manylinux_2_28_aarch64"),
    ("macosx_11_0_arm64",),
)
"""Names of one platform, of which a wheel has one."""

HEAD = "# Written by scripts/lock_dependencies.py: {what}.\n"
BEGIN = "    # ci/requirements.txt: begin. scripts/lock_dependencies.py writes what follows.\n"
END = "    # ci/requirements.txt: end.\n"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--verify", action="store_true", help="download a wheel of each pin for each platform")
    options = parser.parse_args(arguments)
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())
    RUN.write_text(HEAD.format(what="what trainform needs to run") + locked(project["project"]["dependencies"]))
    BUILD.write_text(HEAD.format(what="what builds trainform") + locked(project["build-system"]["requires"]))
    RELEASE.write_text(HEAD.format(what="what ./dev release needs") + locked(project["dependency-groups"]["release"]))
    GITLAB.write_text(with_requirements(GITLAB.read_text(), RUN.read_text()))
    if options.verify:
        verify()


def locked(requirements: Sequence[str]) -> str:
    """The newest versions that fit together on every platform, with hashes and with what each of them is needed by."""
    command = ["uv", "pip", "compile", "--quiet", "--universal", "--generate-hashes", "--no-header"]
    command += ["--python-version", OLDEST_PYTHON, "-"]
    ran = subprocess.run(command, input="\n".join(requirements), capture_output=True, text=True, check=True)
    return ran.stdout


def with_requirements(template: str, requirements: str) -> str:
    """GitLab's template with these requirements between its two marks; without comments, as they take half of it."""
    before, _, rest = template.partition(BEGIN)
    _, mark, after = rest.partition(END)
    if not mark:
        raise ValueError("ci/gitlab.yml has lost the marks around its requirements")
    lines = [line for line in requirements.splitlines() if not re.match(r"\s*#", line)]
    text = "".join(f"      {line}\n" for line in lines)
    return f"{before}{BEGIN}    TRAINFORM_REQUIREMENTS: |\n{text}{END}{after}"


def verify() -> None:
    """Download every pin for every Python and platform: fails where a wheel is missing or a hash is wrong."""
    for file, python, platforms in itertools.product((RUN, BUILD, RELEASE), PYTHONS, PLATFORMS):
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
            command += ["--require-hashes", "--only-binary", ":all:", "--dest", folder, "--requirement", str(file)]
            command += ["--python-version", python]
            command += [argument for platform in platforms for argument in ("--platform", platform)]
            subprocess.run(command, check=True)
            print(f"{file.name}, Python {python}, {platforms[0]}: {len(list(Path(folder).iterdir()))} wheels")


if __name__ == "__main__":
    main()

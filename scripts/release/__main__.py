"""Builds the archives of a release, checks and tries them, and leaves them in dist/. Nothing is uploaded: that is for
.github/workflows/release.yml. The archives are those of the commit that is checked out; what is not committed is not in
them."""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from release import install
from release.archives import members, sdist_problems, wheel_problems
from release.build import ELSEWHERE, HERE, Archives, build, build_by_way_of_the_sdist, differences
from release.index import description, metadata_problems, readme_problems
from release.sbom import bill_of_materials
from release.source import Source, export, find_source, unready

PROJECT = Path(__file__).parents[2]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="./dev release", description=__doc__)
    parser.add_argument("--dry-run", action="store_true", help="only warn of what a release lacks, and leave nothing")
    parser.add_argument("--version", help="fail unless this is the version of the commit")
    parser.add_argument("--url", default="", help="the project's page (default: that of git's remote origin)")
    parser.add_argument("--without-extra", action="append", default=[], metavar="NAME", help="do not try this extra")
    options = parser.parse_args(arguments)
    try:
        source = find_source(PROJECT, options.url, os.environ)
    except (subprocess.CalledProcessError, ValueError) as error:
        parser.exit(1, f"./dev release: {_told(error)}\n")
    dry = ", dry run" if options.dry_run else ""
    print(f"trainform {source.version} of commit {source.commit[:12]}{dry}", flush=True)
    report = Report()
    if options.version not in (None, source.version):
        report.tell("version", [f"the commit is of version {source.version}, not {options.version}"])
    report.tell("ready", unready(source), only_warn=options.dry_run)
    with tempfile.TemporaryDirectory(prefix="trainform-release-") as folder:
        try:
            _check(source, Path(folder), report, options.without_extra, keep=not options.dry_run)
        except subprocess.CalledProcessError as error:
            report.tell("build", [_told(error)])
    print("1 problem" if report.problems == 1 else f"{report.problems or 'no'} problems")
    return 1 if report.problems else 0


def _told(error: subprocess.CalledProcessError | ValueError) -> str:
    if isinstance(error, ValueError):
        return str(error)
    return f"{' '.join(error.cmd)} exits {error.returncode}: {error.stderr.strip()}"


class Report:
    """Prints a line for each check, and below it what it found."""

    def __init__(self) -> None:
        self.problems = 0

    def tell(self, check: str, found: Iterable[str], what: str = "", *, only_warn: bool = False) -> None:
        problems = list(found)
        state = "ok" if not problems else "warning" if only_warn else "FAILED"
        print(f"{state:8} {check:8} {what}".rstrip())
        for problem in problems:
            print(f"         - {problem}")
        sys.stdout.flush()
        self.problems += 0 if only_warn else len(problems)


class Place(NamedTuple):
    """Where things are while the checks run."""

    work: Path
    tree: Path
    archives: Archives


def _check(source: Source, work: Path, report: Report, without: Sequence[str], *, keep: bool) -> None:
    archives = build(source, HERE, work)
    again = build_by_way_of_the_sdist(source, ELSEWHERE, work)
    report.tell("build", differences(archives, again), "twice, the second time elsewhere and by way of the sdist")
    export(source, work / "tree")
    place = Place(work, work / "tree", archives)
    report.tell("wheel", wheel_problems(archives.wheel, place.tree, source.version), archives.wheel.name)
    report.tell("sdist", sdist_problems(archives.sdist, place.tree, source.version), archives.sdist.name)
    _check_metadata(source, place, report)
    _check_installations(source, place, report, without)
    bill = bill_of_materials(archives.wheel, place.tree, source.version, source.url)
    report.tell("sbom", [], f"{bill.count('bom-ref')} components")
    if keep and not report.problems:
        _keep(archives, bill)


def _check_metadata(source: Source, place: Place, report: Report) -> None:
    inside = members(place.archives.wheel)[f"trainform-{source.version}.dist-info/METADATA"]
    beside = members(place.archives.sdist)[f"trainform-{source.version}/PKG-INFO"]
    found = [*metadata_problems(inside, with_urls=bool(source.url))]
    if inside != beside:
        found.append("metadata: the wheel's is not the sdist's")
    report.tell("metadata", found, source.url)
    readme = readme_problems(description(inside), source.url, source.tag, place.tree)
    report.tell("readme", readme, "as an index shows it")


def _check_installations(source: Source, place: Place, report: Report, without: Sequence[str]) -> None:
    installations = install.installations(place.archives.wheel, place.archives.sdist, place.tree)
    if unknown := set(without) - {each.extra for each in installations}:
        report.tell("install", [f"there is no extra {name}" for name in sorted(unknown)])
    for number, each in enumerate(installations):
        if each.extra in without:
            print(f"skipped  install  {each}")
        else:
            folder = place.work / f"environment-{number}"
            report.tell("install", install.problems(each, source.version, folder), str(each))
            shutil.rmtree(folder, ignore_errors=True)


def _keep(archives: Archives, bill: str) -> None:
    """dist/packages/ is for the index, which takes nothing else; the bill of materials and digests are beside it."""
    dist = PROJECT / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    packages = dist / "packages"
    packages.mkdir(parents=True)
    for archive in archives:
        shutil.copy(archive, packages)
    (dist / "trainform.cdx.json").write_text(bill)
    files = sorted(path for path in dist.rglob("*") if path.is_file())
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (dist / "SHA256SUMS").write_text("".join(lines))
    print(f"left in {dist}: {', '.join(path.name for path in files)}, SHA256SUMS")


if __name__ == "__main__":
    sys.exit(main())

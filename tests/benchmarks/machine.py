"""What a run ran on: what a reader needs to judge the figures, and nothing that names a machine."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.install import Peers

MEMORY = Path("/dev/shm")
# Of one mixed job: its source, manifests, lock, and git's copies of them. Each file takes at least 4 KiB.
BYTES_OF_A_JOB = 40 << 10


def facts(python: Path, peers: Peers) -> dict[str, str]:
    """Cores, memory and versions."""
    found = {
        "cores": str(os.cpu_count()),
        "memory": f"{os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / 2**30:.0f} GiB",
        "system": platform.system(),
        "python": platform.python_version(),
        "trainform": _said([str(python.with_name("trainform")), "--version"]).split()[-1],
        "git": _said(["git", "--version"]).split()[-1],
    }
    if peers.kubectl:
        found["kustomize"] = _said([str(peers.kubectl), "version", "--client"]).split("Kustomize Version:")[-1].strip()
    if peers.helm:
        found["helm"] = _said([str(peers.helm), "version", "--template", "{{ .Version }}"])
    if peers.jsonnet:
        code = f"import sys; sys.path.insert(0, {str(peers.jsonnet)!r}); import _gojsonnet; print(_gojsonnet.version)"
        found["jsonnet"] = _said([str(python), "-c", code])
    return found


def scratch_parent(needed: int) -> tuple[Path, str]:
    """Where `needed` bytes of files go, and what that is: memory where half of what is free suffices, else the
    folder for temporary files."""
    if MEMORY.is_dir() and needed < min(shutil.disk_usage(MEMORY).free, _free_memory()) / 2:
        return MEMORY, "memory"
    return Path(tempfile.gettempdir()), "disk"


def bytes_needed(sizes: Sequence[tuple[int, int]], renders: int) -> int:
    """Of numbers of jobs, each with its number of rounds of some cold renders: nothing is deleted before the end."""
    return sum(jobs * (rounds * renders + 1) * BYTES_OF_A_JOB for jobs, rounds in sizes)


def _free_memory() -> int:
    meminfo = Path("/proc/meminfo")
    if not meminfo.exists():
        return 0
    lines = dict(line.split(":") for line in meminfo.read_text().splitlines())
    return int(lines["MemAvailable"].split()[0]) * 1024


def _said(command: list[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

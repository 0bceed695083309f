"""The kustomize that comes with kubectl, where kubectl is."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

needs_kubectl = pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed")


def build(folder: Path) -> list[dict[str, Any]]:
    """The objects that `kubectl kustomize` makes of a folder."""
    ran = subprocess.run(["kubectl", "kustomize", folder], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return list(yaml.safe_load_all(ran.stdout))


def write(folder: Path, texts: dict[str, str]) -> Path:
    """Writes files into `folder`, which is made, by their names."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text)
    return folder

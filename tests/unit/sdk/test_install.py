"""The extra `sdk`: who is asked to install it, and who never imports it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


def python(code: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, cwd=folder)


@pytest.mark.parametrize("missing", ["kubeflow", "kubeflow.trainer"])
def test_without_the_sdk_the_error_says_what_to_install(missing):
    ran = python(f"import sys; sys.modules[{missing!r}] = None; import trainform.sdk")
    assert ran.stderr.splitlines()[-1] == (
        'ImportError: trainform.sdk needs the Kubeflow SDK, version 0.5 or later: pip install "trainform[sdk]"'
    )


def test_an_error_inside_of_the_sdk_is_told_as_it_is():
    ran = python("import sys; sys.modules['kubernetes'] = None; import trainform.sdk")
    assert "kubernetes" in ran.stderr.splitlines()[-1]
    assert "pip install" not in ran.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    "arguments", [["--version"], ["validate"], ["render"], ["job", "new", "mine", "--command", "x"]]
)
def test_no_command_imports_the_sdk(root, arguments):
    code = (
        f"import sys; from trainform.cli.main import run; run({arguments!r}); "
        "print(*{'kubeflow', 'trainform.sdk'} & {*sys.modules})"
    )
    ran = python(code, root)
    assert ran.stdout.splitlines()[-1] == "", ran.stderr

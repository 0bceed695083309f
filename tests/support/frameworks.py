"""The frameworks that tests run for real: `./dev test --with-torch` installs them, as CI does."""

from __future__ import annotations

import os
from importlib.util import find_spec

import pytest

from trainform.local.plan.references import NotHere
from trainform.local.sandbox import choose


def require(package: str) -> None:
    """Skip the test, or at the top of a module all of its tests, where a package is missing; in CI, fail."""
    if find_spec(package) is not None:
        return
    if os.environ.get("CI"):
        pytest.fail(f"CI must install {package}: ./dev test --with-torch", pytrace=False)
    pytest.skip(f"{package} is not installed: ./dev test --with-torch", allow_module_level=True)


def networks_apart() -> list[str]:
    """Options of `trainform run` by which each pod has a network of its own, where this machine allows that: programs
    that listen on all addresses would meet those of another test on their port."""
    try:
        choose("pod", every_pod_listens=True)
    except NotHere:
        return []
    return ["--sandbox", "pod"]

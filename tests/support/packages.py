"""Packages with plugins, as pip would install them: files, and the metadata by which entry points are found."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trainform.installed import forget_installed


class Site:
    """A folder of installed packages, before all others."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def install(self, package: str, version: str, entry_points: dict[str, str], files: dict[str, str]) -> None:
        """Install a package, or another version of it. `entry_points` are plugins, as `module:attribute`."""
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        info = self.folder / f"{package.replace('-', '_')}.dist-info"
        info.mkdir(exist_ok=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
        lines = [f"{name} = {value}" for name, value in entry_points.items()]
        (info / "entry_points.txt").write_text("\n".join(["[trainform.plugins]", *lines, ""]))
        self.forget()

    def plugin(self, name: str, body: str, version: str = "1.0", package: str = "") -> None:
        """Install a package of one plugin, whose class has this `body`."""
        module = f"plugin_{name.replace('-', '_')}"
        lines = ["import trainform", "", "class P(trainform.Plugin):", f"    name = {name!r}"]
        lines += [f"    {line}" for line in body.splitlines()]
        text = "\n".join([*lines, ""])
        self.install(package or name, version, {name: f"{module}:P"}, {f"{module}.py": text})

    def forget(self) -> None:
        """Drop what this process knows of installed packages."""
        importlib.invalidate_caches()
        own = str(self.folder)
        for name, module in list(sys.modules.items()):
            if (getattr(module, "__file__", None) or "").startswith(own):
                del sys.modules[name]
        forget_installed()


@contextmanager
def site(folder: Path) -> Iterator[Site]:
    """A folder of installed packages, for as long as the context lasts."""
    folder.mkdir()
    found, before = Site(folder), sys.dont_write_bytecode
    sys.path.insert(0, str(folder))
    sys.dont_write_bytecode = True
    try:
        yield found
    finally:
        sys.dont_write_bytecode = before
        sys.path.remove(str(folder))
        found.forget()

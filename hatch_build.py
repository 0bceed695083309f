"""What the package says about where it comes from: the addresses of the project, and a README whose links lead there.

The project may live anywhere, so no file names its address. A release gives it in TRAINFORM_PROJECT_URL, and nothing
else is read: any other build has no addresses, and the README as it is. `./dev release` sets the variable.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

VARIABLE = "TRAINFORM_PROJECT_URL"
"""Such as https://git.example.com/ml/trainform, without a slash at its end."""

README = "README.md"
PICTURES = (".gif", ".jpg", ".jpeg", ".png", ".svg", ".webp")

_CODE = re.compile(r"(^```.*?^```|`[^`\n]*`)", re.MULTILINE | re.DOTALL)
_TARGET = re.compile(r"(?<=\]\()(?!#|[a-z][a-z0-9+.-]*:)[^)\s]+")
"""Where a link or a picture of Markdown leads, unless it has a scheme or stays on the page."""


class Addresses(MetadataHookInterface):
    """Sets `readme` and `urls`, unless this is an sdist: its PKG-INFO already has both."""

    def update(self, metadata: dict[str, Any]) -> None:
        if "readme" in metadata:
            metadata.setdefault("urls", {})
            return
        url, tag = os.environ.get(VARIABLE, ""), f"v{metadata['version']}"
        text = Path(self.root, README).read_text(encoding="utf-8")
        metadata["urls"] = addresses(url, tag) if url else {}
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": with_absolute_links(text, url, tag) if url else text,
        }


def addresses(url: str, tag: str) -> dict[str, str]:
    """What a package index shows beside the README, by the names that it knows."""
    return {
        "Homepage": url,
        "Documentation": f"{url}/tree/{tag}/docs",
        "Changelog": f"{url}/blob/{tag}/CHANGELOG.md",
        "Issues": f"{url}/issues",
        "Source": f"{url}/tree/{tag}",
    }


def with_absolute_links(text: str, url: str, tag: str) -> str:
    """Markdown of the project's root, with links to its files as of a tag. What is code stays as it is."""
    parts = _CODE.split(text)
    parts[::2] = [_TARGET.sub(lambda found: _absolute(found[0], url, tag), part) for part in parts[::2]]
    return "".join(parts)


def _absolute(target: str, url: str, tag: str) -> str:
    path, mark, heading = target.partition("#")
    kind = "raw" if path.endswith(PICTURES) else "tree" if path.endswith("/") else "blob"
    return f"{url}/{kind}/{tag}/{path.rstrip('/')}{mark}{heading}"

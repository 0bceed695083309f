"""Files of a repository as an editor names them."""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import quote

from pygls.uris import from_fs_path, to_fs_path

from trainform.core.provenance import SHIPPED
from trainform.io.resources import shipped_runtime


def folder_of(uri: str, file: str) -> str:
    """The folder of the repository in which `uri` is `file`: the editor's way there may lead over a link."""
    path = to_fs_path(uri) or ""
    return path[: len(path) - len(file)]


def uri_of(folder: str, file: str) -> str:
    """The URI of a file of the repository in `folder`, or of a shipped runtime."""
    if file.startswith(SHIPPED):
        return from_fs_path(shipped_runtime(file.removeprefix(SHIPPED))) or ""
    return _uri_of_folder(folder) + quote(file)  # there may be ten thousand


@lru_cache(maxsize=16)
def _uri_of_folder(folder: str) -> str:
    return from_fs_path(folder) or ""

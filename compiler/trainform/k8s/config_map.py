"""ConfigMaps as the API server admits them."""

from __future__ import annotations

from binascii import a2b_base64
from collections.abc import Iterator

from trainform.k8s.names import config_key, quoted
from trainform.k8s.schema.messages import SchemaProblem
from trainform.k8s.tree import Tree, table

MOST_BYTES = 1024 * 1024
"""The most that all values together may have. Source: `MaxSecretSize` in kubernetes/pkg/apis/core."""


def config_map_problems(tree: Tree) -> Iterator[SchemaProblem]:
    """Invalid keys and values, and too many bytes. The schema tells other types."""
    size = 0
    for field in ("data", "binaryData"):
        for key, value in table(tree, field).items():
            if reason := config_key(key):
                yield SchemaProblem((field, key), "TF104", quoted(key, reason), "")
            if not isinstance(value, str):
                continue
            data = value.encode(errors="surrogatepass") if field == "data" else _decoded(value)
            if data is None:
                yield SchemaProblem((field, key), "TF104", "must be base64", "write text into data")
            size += len(data or b"")
    for key in table(tree, "data").keys() & table(tree, "binaryData").keys():
        yield SchemaProblem(("binaryData", key), "TF105", f'"{key}" is in data, too', "rename one of them")
    if size > MOST_BYTES:
        yield SchemaProblem(("data",), "TF647", too_large(size), SMALLER)


def _decoded(text: str) -> bytes | None:
    """Bytes as Go's `encoding/base64` reads them, which skips line ends."""
    try:
        return a2b_base64(text.replace("\r", "").replace("\n", ""), strict_mode=True)
    except ValueError:
        return None


SMALLER = "put it into the image, or onto a volume"


def too_large(size: int) -> str:
    return f"the ConfigMap would have {size} bytes, but the API server takes at most {MOST_BYTES} (1 MiB)"

"""Limits of a file: how large a document may be, how many there are, and what its aliases expand to. A few lines of
YAML can expand to more nodes than fit in memory."""

from __future__ import annotations

MAX_DEPTH = 100
"""Maximum nesting of a document; Kubernetes objects stay below 30."""

MAX_ELEMENTS = 500_000
"""Maximum nodes of a document, which take 300 bytes each; a file of 16 MiB could hold 8 million."""

MAX_NODES = 1_000_000
"""Maximum nodes of a file's documents with aliases, after their expansion."""

NODES_PER_CHARACTER = 4
"""Maximum nodes of a text inside a document after the expansion of its aliases, per character: a file may hold many."""

MAX_DOCUMENTS = 10_000
"""Maximum documents of a file, items of a List included: so many jobs take five seconds and 400 MiB."""

MAX_STREAMED = 20_000
"""Maximum documents of a stream on standard input, which is compiled batch by batch: so many jobs take ten seconds of
one processor and 200 MiB."""


class Expansion:
    """How many nodes the aliases of one file may still expand to."""

    def __init__(self, most: int = MAX_NODES) -> None:
        self.left = most

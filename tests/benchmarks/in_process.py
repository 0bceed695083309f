"""Compiles one torch job in process, from parsed documents to finished objects, and prints the seconds as JSON.

    python in_process.py FILE      FILE holds a runtime and torch jobs of it

`job` is one of many jobs that share a runtime: the runtime is read once for all. `alone` is one job with its runtime,
both read and checked from the parsed document on each time.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from trainform.core.catalogue import Catalogue
from trainform.core.compile import compile_documents
from trainform.installed import load_plugins
from trainform.source import Document, load

ROUNDS = 4


def main() -> None:
    runtime, *jobs = load(Path(sys.argv[1]).read_text(), "<jobs>").documents
    plugins, catalogue = load_plugins(), Catalogue()

    def compile_all(documents: Sequence[Document]) -> None:
        compilation = compile_documents(documents, catalogue=catalogue, plugins=plugins)
        assert all(job.objects for job in compilation.jobs)

    def seconds(documents: Sequence[Document], times: int) -> dict[str, float]:
        """The best of the rounds, for each of `times` compiles or jobs."""
        walls, cpus = [], []
        for _ in range(ROUNDS):
            wall, cpu = time.perf_counter(), time.process_time()
            for _ in range(times):
                compile_all(documents)
            walls.append(time.perf_counter() - wall)
            cpus.append(time.process_time() - cpu)
        return {"wall": min(walls), "cpu": min(cpus)}

    def each(taken: dict[str, float], number: int) -> dict[str, float]:
        return {name: value / number for name, value in taken.items()}

    many = seconds([runtime, *jobs], 1)
    alone = seconds([runtime, jobs[0]], len(jobs) // 2)
    print(json.dumps({"job": each(many, len(jobs)), "alone": each(alone, len(jobs) // 2)}))


if __name__ == "__main__":
    main()

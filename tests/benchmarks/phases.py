"""Does to torch jobs what a render does, one phase after the other, and prints the seconds of each as JSON.

    python phases.py FILE FOLDER      FILE holds a runtime and torch jobs of it; files go below FOLDER

Garbage is not collected, as in the command. Each phase counts what it takes in the best of some rounds, for one job.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

from trainform import __version__
from trainform.api import read
from trainform.core.catalogue import Catalogue
from trainform.core.compile import compile_documents
from trainform.core.finish import check_objects, finish
from trainform.core.pipeline import Pipeline
from trainform.installed import load_plugins
from trainform.io.paths import lockfile_path
from trainform.io.staging import Staging
from trainform.io.writer import JobChange, stage
from trainform.output.layout import job_files, job_folder
from trainform.source import load
from trainform.workspace.fingerprint import CurrentInputs, lock_of
from trainform.workspace.lockfile import LockFile, dump

ROUNDS = 15

YAML = "parse YAML"
MODEL = "build and validate the TrainJob model"
BUILD = "merge runtime and job, run plugin stages"
DEFAULTS = "apply defaults, order keys"
SCHEMAS = "check schemas and API server rules"
CHECKS = "check lints, life cycle, queues"
BYTES = "serialize manifests"
LOCK = "compute digests and lockfile"
FILES = "write files and folders"


class Clock:
    """Seconds by name; what a function takes within another one is not the other's."""

    def __init__(self) -> None:
        self.seconds = defaultdict[str, float](float)
        self._inner = [0.0]

    def timed(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            start = time.perf_counter()
            self._inner.append(0.0)
            try:
                return function(*given, **named)
            finally:
                taken = time.perf_counter() - start
                self.seconds[name] += taken - self._inner.pop()
                self._inner[-1] += taken

        return call


def one_round(texts: list[str], runtime: str, folder: Path) -> dict[str, float]:
    """The seconds of each phase for all jobs."""
    clock, plugins, catalogue = Clock(), load_plugins(), Catalogue()
    shared = load(runtime, "runtime.yaml").documents
    jobs = clock.timed(YAML, lambda: [load(text, "job.yaml").documents[0] for text in texts])()
    cache = {document: read(document) for document in shared}
    cache.update(clock.timed(MODEL, lambda: {document: read(document) for document in jobs})())
    with (
        patch("trainform.core.compile.finish", clock.timed(DEFAULTS, finish)),
        patch("trainform.core.finish.check_objects", clock.timed(SCHEMAS, check_objects)),
        patch.object(Pipeline, "build", clock.timed(BUILD, Pipeline.build)),
        patch.object(Pipeline, "run", clock.timed(CHECKS, Pipeline.run)),
    ):
        compiling = clock.timed(BUILD, compile_documents)
        compilation = compiling([*shared, *jobs], catalogue=catalogue, plugins=plugins, cache=cache)
    present = CurrentInputs(__version__, {}, {}, compilation.inputs, catalogue)
    files = clock.timed(BYTES, lambda: [job_files(job.objects) for job in compilation.jobs])()
    pairs = list(zip(compilation.jobs, files, strict=True))
    locks = clock.timed(LOCK, lambda: [dump(LockFile(lock_of(job, present, made))) for job, made in pairs])()

    staging = Staging(str(folder), "staging", record="")

    def put() -> None:
        for (job, made), lock in zip(pairs, locks, strict=True):
            place = job_folder("rendered", "default", job.namespace, job.name)
            lockfile = lockfile_path(("default", job.namespace, job.name))
            stage(staging, JobChange(place, lockfile, made, lock))

    clock.timed(FILES, put)()
    return dict(clock.seconds)


def main() -> None:
    runtime, *texts = Path(sys.argv[1]).read_text().split("---\n")
    gc.disable()
    rounds = [one_round(texts, runtime, Path(sys.argv[2]) / str(number)) for number in range(ROUNDS)]
    print(json.dumps({name: min(each[name] for each in rounds) / len(texts) for name in rounds[0]}))


if __name__ == "__main__":
    main()

"""Where the time goes that is left: what starting consists of, and what is done for one job."""

from __future__ import annotations

import json
import subprocess
from collections import defaultdict
from collections.abc import Iterator

from benchmarks.generate import TORCH, Job, runtime_text
from benchmarks.measure import LAUNCHER, Bench, Taken, environment, tell

START, JOB = "imports", "phases"
"""The groups of figures: imports of `trainform render -` by whose they are, and phases of one of many jobs."""

ROUNDS = 10
JOBS = 200
PYTHON = "the standard library"
OWNERS = {
    "trainform": "trainform and its plugins",
    "trainform_plugins": "trainform and its plugins",
    "pydantic": "pydantic and its dependencies",
    "pydantic_core": "pydantic and its dependencies",
    "annotated_types": "pydantic and its dependencies",
    "typing_extensions": "pydantic and its dependencies",
    "typing_inspection": "pydantic and its dependencies",
    "click": "click",
    "yaml": "PyYAML",
}


def measure_profile(bench: Bench) -> dict[str, dict[str, Taken]]:
    texts = [runtime_text(TORCH), *(Job(number, TORCH).text() for number in range(JOBS))]
    stream = bench.scratch / "profiled.yaml"
    stream.write_text("---\n".join(texts))
    program, printed = LAUNCHER.with_name("phases.py"), bench.scratch / "phases.json"
    command = [str(bench.python), str(program), str(stream), str(bench.scratch / "phases")]
    bench.run(command, bench.scratch, stdout=printed)
    phases = json.loads(printed.read_text())
    tell(f"profile: {sum(phases.values()) * 1_000:.3f} ms for each of many jobs")
    return {START: _imports(bench), JOB: {name: Taken(seconds, seconds) for name, seconds in phases.items()}}


def _imports(bench: Bench) -> dict[str, Taken]:
    """The seconds that modules take to import, less those that Python imports for itself; the best of some rounds."""
    stream = f"{runtime_text(TORCH)}---\n{Job(1, TORCH).text()}"
    trainform = str(bench.python.with_name("trainform"))
    bare = {name for name, _ in _modules(bench, ["-c", "pass"], "")}
    seconds: dict[str, float] = {}
    for _ in range(ROUNDS):
        for name, taken in _modules(bench, [trainform, "render", "-"], stream):
            if name not in bare:
                seconds[name] = min(taken, seconds.get(name, taken))
    owners = defaultdict[str, float](float)
    for name, taken in seconds.items():
        owners[OWNERS.get(name.partition(".")[0], PYTHON)] += taken
    return {owner: Taken(owners[owner], owners[owner]) for owner in sorted(owners, key=lambda each: -owners[each])}


def _modules(bench: Bench, arguments: list[str], stream: str) -> Iterator[tuple[str, float]]:
    """Each module that is imported, and the seconds that it takes itself."""
    command = [str(bench.python), "-X", "importtime", *arguments]
    ran = subprocess.run(
        command, input=stream, capture_output=True, text=True, check=True, cwd=bench.scratch, env=environment()
    )
    for line in ran.stderr.splitlines():
        _, found, rest = line.partition("import time:")
        if found and (taken := rest.split("|")[0].strip()).isdigit():
            yield rest.split("|")[2].strip(), int(taken) / 1e6

"""Single processes, which do little and so show what starting costs; and one job compiled in process."""

from __future__ import annotations

import json
from dataclasses import replace

from benchmarks.generate import TORCH, Job, runtime_text
from benchmarks.measure import LAUNCHER, REFERENCE, Bench, Taken, in_turns, tell

PYTHON = "python -c pass"
VERSION = "trainform --version"
HELP = "trainform --help"
ONE_JOB = "trainform render -, one job"
COMPILE = "one torch job of many"
COMPILE_ALONE = "one torch job and its runtime"
JOBS_IN_PROCESS = 200


def measure_starts(bench: Bench, rounds: int) -> dict[str, Taken]:
    stream = bench.scratch / "one-job.yaml"
    stream.write_text(f"{runtime_text(TORCH)}---\n{Job(1, TORCH).text()}")
    trainform = str(bench.python.with_name("trainform"))
    steps = {
        PYTHON: lambda: bench.run([str(bench.python), "-c", "pass"], bench.scratch),
        VERSION: lambda: bench.run([trainform, "--version"], bench.scratch),
        HELP: lambda: bench.run([trainform, "--help"], bench.scratch),
        ONE_JOB: lambda: bench.run([trainform, "render", "-"], bench.scratch, stdin=stream),
    }
    loops = in_turns(3, {REFERENCE: bench.reference_loop}, "single processes")
    return {**loops, **in_turns(rounds, steps, "single processes")}


def measure_compile(bench: Bench) -> dict[str, Taken]:
    """Seconds for a job, of a process that compiles many."""
    texts = [runtime_text(TORCH), *(Job(number, TORCH).text() for number in range(JOBS_IN_PROCESS))]
    stream, printed = bench.scratch / "many-jobs.yaml", bench.scratch / "in-process.json"
    stream.write_text("---\n".join(texts))
    program = LAUNCHER.with_name("in_process.py")
    loops = in_turns(3, {REFERENCE: bench.reference_loop}, "in process")
    bench.run([str(bench.python), str(program), str(stream)], bench.scratch, stdout=printed)
    found = json.loads(printed.read_text())
    figures = {COMPILE: Taken(**found["job"]), COMPILE_ALONE: Taken(**found["alone"])}
    loop = loops[REFERENCE].cpu
    taken = {name: replace(each, loops=each.cpu / loop) for name, each in figures.items()}
    for name, each in taken.items():
        tell(f"in process: {name}: {each.wall * 1000:.3f} ms")
    return {**loops, **taken}

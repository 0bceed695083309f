"""Single processes, which do little and so show what starting costs; and one job compiled in process."""

from __future__ import annotations

import json

from benchmarks.generate import TORCH, Job, runtime_text
from benchmarks.measure import LAUNCHER, REFERENCE, Bench, Taken, best, in_turns, tell

PYTHON = "python -c pass"
VERSION = "trainform --version"
HELP = "trainform --help"
ONE_JOB = "trainform render -, one job"
COMPILE = "one torch job of many"
COMPILE_ALONE = "one torch job and its runtime"
IN_PROCESS = {COMPILE: "job", COMPILE_ALONE: "alone"}
JOBS_IN_PROCESS = 200
ROUNDS_IN_PROCESS = 4


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
    loops, rounds = [bench.reference_loop()], []
    for _ in range(ROUNDS_IN_PROCESS):
        bench.run([str(bench.python), str(program), str(stream)], bench.scratch, stdout=printed)
        loops.append(bench.reference_loop())
        loop = (loops[-2].cpu + loops[-1].cpu) / 2
        found = json.loads(printed.read_text())
        rounds.append({name: Taken(**found[key], loops=found[key]["cpu"] / loop) for name, key in IN_PROCESS.items()})
    taken = {**best([{REFERENCE: loop} for loop in loops]), **best(rounds)}
    for name in IN_PROCESS:
        tell(f"in process: {name}: {taken[name].wall * 1000:.3f} ms")
    return taken

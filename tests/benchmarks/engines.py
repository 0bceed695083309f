"""What an engine pays at every refresh to read `rendered/`: plain folders as Argo CD reads them, and a kustomization
for each namespace as Flux generates it.

kustomize-controller runs kustomize in its own process, so starting kubectl is measured by itself, on namespaces of one
job.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchmarks.generate import write
from benchmarks.install import Peers
from benchmarks.measure import Bench, Taken, in_turns
from benchmarks.peers import SENTINELS, sentinel_jobset

PLAIN = "read and parse plain folders, as Argo CD"
FLUX = "kubectl kustomize, once for each namespace, as Flux"
START = "kubectl kustomize, namespaces of one job"
INSIDE = "the same without starting kubectl, as kustomize-controller"

NAMESPACES = 100

_READ = """\
import os, sys, yaml
for above, _, files in os.walk(sys.argv[1]):
    for name in files:
        if name.endswith((".yaml", ".yml", ".json")):
            with open(os.path.join(above, name), "rb") as file:
                yaml.load(file.read(), yaml.CSafeLoader)
"""
_BUILD = 'for folder in "$2"/*; do "$1" kustomize "$folder" || exit 1; done'


def group(jobs: int) -> str:
    return f"engines-{jobs}"


def measure(bench: Bench, peers: Peers, jobs: int, rounds: int) -> dict[str, Taken]:
    """Every way to read as many jobs, in at most 100 namespaces."""
    folder = bench.scratch / group(jobs)
    jobset = sentinel_jobset(bench)
    names = min(NAMESPACES, jobs)
    numbers = [range(namespace, jobs, names) for namespace in range(names)]
    _write(folder / "plain", jobset, numbers)
    steps: dict[str, Callable[[], Taken]] = {
        PLAIN: lambda: bench.run([str(bench.python), "-c", _READ, str(folder / "plain")], bench.scratch)
    }
    if peers.kubectl:
        _write(folder / "all", jobset, numbers, with_lists=True)
        _write(folder / "one", jobset, [each[:1] for each in numbers], with_lists=True)
        for name, part in ((FLUX, "all"), (START, "one")):
            command = ["/bin/sh", "-c", _BUILD, "build", str(peers.kubectl), str(folder / part)]
            steps[name] = lambda command=command: bench.run(command, bench.scratch)  # type: ignore[misc]
    return in_turns(rounds, steps, f"{jobs:,} jobs in {names} namespaces")


def per_job(taken: Mapping[str, Taken], jobs: int) -> dict[str, float]:
    """CPU seconds for each job, by what was measured. What kustomize takes without its start is the difference of two
    measurements, over the jobs that one has and the other has not."""
    names = min(NAMESPACES, jobs)
    found = {name: each.cpu / (names if name == START else jobs) for name, each in taken.items()}
    if jobs > names and {FLUX, START} <= taken.keys():
        found[INSIDE] = (taken[FLUX].cpu - taken[START].cpu) / (jobs - names)
    return found


def _write(folder: Path, jobset: str, numbers: Sequence[range], *, with_lists: bool = False) -> None:
    """A folder for each namespace and job; with the kustomization that Flux generates for the namespace."""
    for number, jobs in enumerate(numbers):
        files = {f"job-{each}/jobset-job-{each}.yaml": _jobset(jobset, f"job-{each}", number) for each in jobs}
        if with_lists:
            files["kustomization.yaml"] = "resources:\n" + "".join(f"- {path}\n" for path in files)
        write(folder / f"team-{number}", files.items())


def _jobset(sentinel: str, name: str, namespace: int) -> str:
    return sentinel.replace(SENTINELS["name"], name).replace(SENTINELS["namespace"], f"team-{namespace}")

"""Problems to show in every format."""

from __future__ import annotations

from trainform.diagnostics import Diagnostic, Place
from trainform.source import load

JOB = """\
kind: TrainJob
spec:
  trainer:
    numNodes: many # 100 %
"""


def place(file: str = "jobs/llm.yaml") -> Place:
    return load(JOB, file).documents[0]


TYPE = Diagnostic("TF102", "error", "must be a number", "write numNodes: 2", ("spec", "trainer", "numNodes"), place())
TAG = Diagnostic("TF607", "warning", "image without a tag", path=("spec", "trainer"), place=place())
PORT = Diagnostic(
    "TF606",
    "info",
    "port used twice",
    place=place(),
    object="JobSet/llm",
    object_path=("spec", "replicatedJobs", 0),
)
NOWHERE = Diagnostic("TF202", "error", "no TrainJob found")
STREAM = Diagnostic("TF102", "error", "must be a number", path=("spec",), place=place("<stdin>"))
RUNTIME = place("runtimes/torch.yaml")
SHARED = [
    Diagnostic("TF525", "error", "no such volume", "", ("spec", "trainer"), RUNTIME, object=f"JobSet/{name}")
    for name in ("bert", "llm", "vit")
]
"""One fault of a runtime, as it shows in the three jobs that use it."""
ALL = [TYPE, TAG, PORT, NOWHERE, STREAM]

"""How a script gets to the pods of a job: a file beside the TrainJob, which a ConfigMap carries and a patch mounts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trainform.core.jobset_view import NODE_CONTAINER
from trainform.k8s.tree import Tree, tables, text, value_at

MOUNT = "/opt/trainform"
"""The folder of the script in the pods."""

KEY = "script.py"
"""The script's name there. Python looks for modules in the folder of a script first, so a script must not have the name
of one that it may import, such as `xgboost.py`."""

SCRIPT = f"{MOUNT}/{KEY}"

MANAGER = "trainform.dev/script"
VOLUME = "trainform-script"

RUNNERS = {"torch": ["torchrun"], "deepspeed": ["mpirun", "python"], "mlx": ["mpirun", "python"]}
"""What starts a script, by the runtime's framework; python, if it is another."""


class Carriage(NamedTuple):
    """What a TrainJob called `job` needs to carry a script: the name of its file, beside that of the job; the item of
    `spec.runtimePatches` that mounts it; and the generator of the ConfigMap."""

    file: str
    patch: Tree
    generator: Tree


def carriage(job: str, namespace: str, runtime: Tree) -> Carriage:
    """For the pods of `runtime` that train. An empty namespace is left out, as in the TrainJob."""
    name, file = f"{job}-script", f"{job.replace('-', '_')}.py"
    steps = [{"name": each, "template": {"spec": {"template": _pods(name)}}} for each in _steps_that_train(runtime)]
    return Carriage(
        file,
        {"manager": MANAGER, "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": steps}}}},
        {
            "apiVersion": "trainform.dev/v1alpha1",
            "kind": "ConfigMapGenerator",
            "metadata": {"name": name} | ({"namespace": namespace} if namespace else {}),
            "files": [f"{KEY}={file}"],
        },
    )


def _pods(config_map: str) -> Tree:
    mount = {"name": VOLUME, "mountPath": MOUNT, "readOnly": True}
    return {
        "spec": {
            "containers": [{"name": NODE_CONTAINER, "volumeMounts": [mount]}],
            "volumes": [{"name": VOLUME, "configMap": {"name": config_map}}],
        }
    }


def _steps_that_train(runtime: Tree) -> Iterator[str]:
    """The replicated jobs with a container that trains: with MPI, the launcher and its nodes."""
    for job in tables(value_at(runtime, ("spec", "template", "spec")) or {}, "replicatedJobs"):
        pod = value_at(job, ("template", "spec", "template", "spec")) or {}
        if NODE_CONTAINER in (each.get("name") for each in tables(pod, "containers")):
            yield text(job, "name")

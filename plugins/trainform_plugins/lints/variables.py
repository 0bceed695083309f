"""Lints about variables that replace what the framework's plugin sets."""

from __future__ import annotations

from trainform_plugins.lints.finished import Finished
from trainform_plugins.lints.torchrun import ENDPOINT, TORCHRUN, Injected, injected_into

FLAGS = {"PET_STANDALONE": "standalone", ENDPOINT: "rdzv-endpoint", "PET_RDZV_BACKEND": "rdzv-backend"}
"""Variables that are flags of torchrun, and that no plugin sets."""

FALSE = ("", "0")

JAX = ("JAX_NUM_PROCESSES", "JAX_PROCESS_ID", "JAX_COORDINATOR_ADDRESS")


def variables_of_torchrun(job: Finished) -> None:
    """torchrun reads each of its flags as a variable, too: `PET_STANDALONE=1` is `--standalone`.

    Why: these variables beat or bypass the injected address. Bites: anyone who copies them from another launcher: four
    nodes become four jobs of one node, or wait for a host that is no pod of this job. Known from the same flags
    (training-operator 1921).
    """
    for pods, node in job.nodes if job.plan.framework == "torch" else ():
        injected = injected_into(job, pods, node)
        for index, variable in enumerate(node.get("env") or ()) if injected else ():
            name, value = variable.get("name"), variable.get("value")
            if injected and name and value and _contradicts(injected, name, value):
                job.plan.warn(
                    "TF631",
                    f"{name}={value} replaces the rendezvous that is set for torchrun",
                    hint=f"remove {name}; numNodes and numProcPerNode of spec.trainer are enough",
                    **job.text(pods, node, ("env", index, "value")),
                )


def _contradicts(injected: Injected, name: str, value: str) -> bool:
    if "$" in value:
        return False
    if name not in FLAGS or (name == "PET_STANDALONE" and value in FALSE):
        return False
    return not TORCHRUN[FLAGS[name]][1](injected, value)


def variables_of_jax(job: Finished) -> None:
    """A job's own JAX_ variables win over those of the plugin.

    Why: for torch, MPI and XGBoost the controller refuses them; for JAX it does not yet. Bites: anyone who copies the
    variables of one process: four pods are process 0 of 1, and each trains alone.
    """
    if job.plan.framework != "jax":
        return
    for index, variable in enumerate(job.plan.trainer.env):
        if variable.get("name") in JAX:
            job.plan.warn(
                "TF631",
                f"{variable['name']} replaces the value that is set for each process",
                hint="remove it; set spec.trainer.numNodes instead",
                path=("spec", "trainer", "env", index, "name"),
            )

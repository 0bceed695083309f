"""The command that runs a function: the SDK's, with a mounted script in place of its here-document, which a shell would
expand."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence

from kubeflow.trainer import CustomTrainer
from kubeflow.trainer.backends.kubernetes import utils
from kubeflow.trainer.constants import constants

from trainform.workspace.new_job.carriage import SCRIPT

FUNCTION = "{func_file}"
"""In the SDK's command of a runtime, the place of the file with the function."""

SHELL = ("bash", "-c")


def command_of(command: Sequence[str], trainer: CustomTrainer) -> tuple[str, ...]:
    """`command` is the SDK's command of the trainer's runtime: its last word is a shell script, and the last line of
    that runs the function's file. Packages are installed by the same text as the SDK's. Raises RuntimeError if this
    version of the SDK has other commands."""
    *before, shell = command
    last = shell.rpartition("\n")[2]
    if FUNCTION not in last or tuple(before[-2:]) != SHELL:
        raise RuntimeError("this version of the Kubeflow SDK starts functions in a way that trainform does not know")
    line = last.replace(FUNCTION, SCRIPT)
    if not trainer.packages_to_install:
        return (*before[:-2], *shlex.split(line))
    folder = constants.DEFAULT_MPI_USER_HOME if before[0] == "mpirun" else ""
    install = utils.get_script_for_python_packages(
        trainer.packages_to_install, trainer.pip_index_urls, install_log_file=os.path.join(folder, "pip_install.log")
    )
    return (*before, install.lstrip() + line)

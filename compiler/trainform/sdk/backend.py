"""The SDK's backend for Kubernetes, with a repository in place of the API server."""

from __future__ import annotations

import copy
import json
import logging
import os
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from kubeflow.trainer import (
    BuiltinTrainer,
    CustomTrainer,
    CustomTrainerContainer,
    Event,
    Initializer,
    KubernetesBackendConfig,
    Runtime,
    TrainerType,
)
from kubeflow.trainer.backends.kubernetes.backend import KubernetesBackend
from kubeflow.trainer.constants import constants
from kubeflow.trainer.types.types import TrainJob

from trainform.diagnostics.escape import log
from trainform.diagnostics.order import has_errors
from trainform.diagnostics.text import render_text
from trainform.k8s.tree import Tree
from trainform.sdk.api import NoPods, RepositoryApi
from trainform.sdk.command import command_of
from trainform.sdk.records import Records, root_and_environment
from trainform.workspace import InvocationError
from trainform.workspace.new_job.function import CannotCarry
from trainform.workspace.new_job.given import GivenJob, add_job, name_by_content
from trainform.workspace.new_job.live import Script, script_of_function
from trainform.workspace.retire.program import Request, retire

Trainer = CustomTrainer | CustomTrainerContainer | BuiltinTrainer

logger = logging.getLogger("trainform.sdk")


class GitBackend(KubernetesBackend):
    """Jobs are files of the repository that holds the folder `root`; runtimes are its own and those that trainform
    ships. The SDK makes the TrainJobs, as for a cluster. With `cluster`, status, logs and events come from there."""

    def __init__(
        self, root: str | os.PathLike[str] = ".", env: str | None = None, cluster: KubernetesBackendConfig | None = None
    ) -> None:
        """Raises ValueError if the repository has no such Environment, or several and none is named."""
        try:
            self.root, self.environment = root_and_environment(os.fspath(root), env)
        except InvocationError as error:
            raise ValueError(log(str(error))) from None
        self._namespace = (cluster.namespace if cluster else None) or ""
        self._held: Records | None = None
        self.is_connected = cluster is not None
        if cluster:
            super().__init__(cluster.model_copy(update={"namespace": self._records.namespace}))
        else:
            self.namespace, self.core_api = self._records.namespace, NoPods()
        self.custom_api = RepositoryApi(lambda: self._records, self.custom_api if cluster else None)

    def verify_backend(self) -> None:
        """Nothing: what trainform renders does not need the controller of the Trainer."""

    @property
    def _records(self) -> Records:
        return self._held or Records(self.root, self.environment, self._namespace)

    @contextmanager
    def _reading_once(self) -> Iterator[Records]:
        """Within, everything is answered from one reading of the repository."""
        before, self._held = self._held, self._records
        try:
            yield self._held
        finally:
            self._held = before

    def list_runtimes(self) -> list[Runtime]:
        found = {}
        with self._reading_once() as records:
            for _, name in records.runtimes:
                if name in found:
                    continue
                try:
                    found[name] = self.get_runtime(name)
                except RuntimeError as error:
                    logger.warning("runtime %s is left out: %s", name, error.__cause__ or error)
        return [*found.values()]

    def get_runtime(self, name: str) -> Runtime:
        with self._reading_once() as records:
            try:
                records.runtime(name)
            except LookupError as error:
                raise RuntimeError(log(str(error))) from None
            return super().get_runtime(name)

    def get_runtime_packages(self, runtime: Runtime) -> None:
        """Print what the repository knows: the image, which has the packages."""
        if runtime.trainer.trainer_type == TrainerType.BUILTIN_TRAINER:
            raise ValueError("Cannot get Runtime packages for BuiltinTrainer")
        trainer = runtime.trainer
        lines = [
            f"Image: {trainer.image}",
            f"Nodes: {trainer.num_nodes}, devices: {trainer.device} x {trainer.device_count}",
            f"Python packages: those of the image; see `docker run --rm {shlex.quote(trainer.image)} pip list`",
        ]
        print(log("\n".join(lines)))

    def train(
        self,
        runtime: str | Runtime | None = None,
        initializer: Initializer | None = None,
        trainer: Trainer | None = None,
        options: list[Any] | None = None,
    ) -> str:
        """Write the TrainJob, and the script of its function, and return its name: that of the option Name; else one of
        the function, the image or the runtime, with a digest of the job. So the same call writes nothing the second
        time. Raises ValueError for what cannot be, with what to do."""
        with self._reading_once() as records:
            if not isinstance(runtime, Runtime):
                runtime = self.get_runtime(runtime or constants.DEFAULT_TRAINING_RUNTIME)
            chosen, script = copy.deepcopy(runtime), Script("", "")
            try:
                if isinstance(trainer, CustomTrainer):
                    script = script_of_function(trainer.func, trainer.func_args)
                    if runtime.trainer.trainer_type == TrainerType.CUSTOM_TRAINER:  # else the SDK says why not
                        chosen.trainer.set_command(command_of(runtime.trainer.command, trainer))
                tree, name = self._made(chosen, initializer, trainer, options)
                given = GivenJob(tree, script.text, records.runtimes.get((runtime.kind.value, runtime.name)))
                tree["metadata"]["name"] = name or name_by_content(script.name or _stem(trainer, runtime), given)
                added = add_job(self.root, self.environment, given)
            except (CannotCarry, InvocationError) as error:
                raise ValueError(log(str(error))) from None
        if warnings := [each for each in added.findings if each.severity == "warning"]:
            logger.warning("%s", log(render_text(warnings, colour=False).rstrip("\n")))
        return str(tree["metadata"]["name"])

    def _made(
        self, runtime: Runtime, initializer: Initializer | None, trainer: Trainer | None, options: list[Any] | None
    ) -> tuple[Tree, str]:
        """The TrainJob that the SDK would send, without a name; and the name, if an option gives one."""
        metadata: dict[str, Any] = {}

        def look(job_spec: dict[str, Any], *_others: object) -> None:
            metadata.update(job_spec.get("metadata", {}))

        super().train(runtime=runtime, initializer=initializer, trainer=trainer, options=[*(options or ()), look])
        tree = _as_sent(self.custom_api.created)
        own = {"namespace": self.namespace} if self.namespace != self._records.default_namespace else {}
        tree["metadata"] = {key: value for key, value in tree["metadata"].items() if key != "name"} | own
        return tree, metadata.get("name") or ""

    def list_jobs(self, runtime: Runtime | None = None) -> list[TrainJob]:
        found = []
        with self._reading_once() as records:
            for name in records.jobs:
                try:
                    job = self.get_job(name)
                except RuntimeError as error:
                    logger.warning("job %s is left out: %s", name, error.__cause__ or error)
                    continue
                if runtime is None or runtime.name == job.runtime.name:
                    found.append(job)
        return found

    def get_job(self, name: str) -> TrainJob:
        """Without a cluster, the status of every job is Created, and it was created when its file was written."""
        with self._reading_once():
            self._file_of(name)
            return replace(super().get_job(name), name=name)

    def get_job_logs(self, name: str, follow: bool = False, step: str = f"{constants.NODE}-0") -> Iterator[str]:
        self._check_cluster("get_job_logs", name)
        return super().get_job_logs(name, follow=follow, step=step)

    def get_job_events(self, name: str) -> list[Event]:
        self._check_cluster("get_job_events", name)
        return super().get_job_events(name)

    def wait_for_job_status(
        self,
        name: str,
        status: set[str] = {constants.TRAINJOB_COMPLETE},  # noqa: B006  as in the SDK
        timeout: int = 600,
        polling_interval: int = 2,
        callbacks: list[Callable[[TrainJob], None]] | None = None,
    ) -> TrainJob:
        if constants.TRAINJOB_CREATED not in status:
            self._check_cluster("wait_for_job_status", name)
        return super().wait_for_job_status(name, status, timeout, polling_interval, callbacks)

    def delete_job(self, name: str) -> None:
        """Remove the job from its file, with its script, as `trainform retire` does; the next render removes its
        manifests. Raises RuntimeError if there is none, or if it cannot be removed alone."""
        self._file_of(name)
        try:
            retired = retire(self.root, Request(jobs=[f"{self.namespace}/{name}"]))
        except InvocationError as error:
            raise RuntimeError(log(str(error))) from None
        if has_errors(retired.problems):
            raise RuntimeError(log(render_text(retired.problems, colour=False).rstrip("\n")))

    def _check_cluster(self, method: str, name: str) -> None:
        """Raises RuntimeError for an unknown job, NotImplementedError without a cluster."""
        file = self._file_of(name)
        if not self.is_connected:
            raise NotImplementedError(
                f"{method} needs the cluster that {file} runs in: pass it with "
                "TrainerClient(backend_config=KubernetesBackendConfig()), or use kubectl there"
            )

    def _file_of(self, name: str) -> str:
        """Raises RuntimeError if there is no such job."""
        try:
            return self._records.job(name).file
        except LookupError as error:
            raise RuntimeError(log(str(error))) from None


def _as_sent(body: Tree) -> Tree:
    """The object as JSON, with 2 for the 2.0 that the SDK makes of it. Raises InvocationError."""
    try:
        tree: Tree = json.loads(json.dumps(body, allow_nan=False), parse_float=_number)
    except (TypeError, ValueError) as error:
        raise InvocationError(f"the TrainJob holds a value that JSON cannot: {error}") from error
    return tree


def _number(text: str) -> int | float:
    number = float(text)
    return int(number) if number.is_integer() else number


def _stem(trainer: Trainer | None, runtime: Runtime) -> str:
    """What a job without a function is called after: its image, else its runtime."""
    if isinstance(trainer, CustomTrainerContainer):
        return trainer.image.rpartition("/")[2].partition("@")[0].partition(":")[0]
    return str(runtime.name)

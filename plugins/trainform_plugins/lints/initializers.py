"""The lint about TrainJob values that reach no initializer."""

from __future__ import annotations

from trainform_plugins.lints.finished import Finished

KINDS = ("dataset", "model")


def values_reach_no_initializer(job: Finished) -> None:
    """`spec.initializer` is applied by step label, but validated by the replicated job's name.

    Why: upstream's webhook looks for a replicated job and container called `dataset-initializer`; the values go to the
    step of that label, into a container of that name. A runtime with the name but not the label passes, and fetches its
    own default dataset. Bites: anyone who copies a runtime and edits labels (the silent losses in trainer 3427 and
    kueue 14504).
    """
    initializer = job.plan.job.spec.initializer
    if initializer is None:
        return
    for kind in KINDS:
        step = f"{kind}-initializer"
        here = [pods for pods in job.jobset.jobs if pods.name == step]
        if getattr(initializer, kind) is None or not here or _reaches(job, step):
            continue  # a missing replicated job is already an error
        what = f"no container {step!r}" if here[0].step == step else "another step label or none"
        job.plan.warn(
            "TF617",
            f"these values reach no container: replicated job {step!r} of runtime {job.plan.runtime.name!r} has {what}",
            hint=f"add the label trainer.kubeflow.org/trainjob-ancestor-step: {step} to its template, and give "
            "its container the same name",
            path=("spec", "initializer", kind),
        )


def _reaches(job: Finished, step: str) -> bool:
    return any(pods.step == step and pods.container(step) for pods in job.jobset.jobs)

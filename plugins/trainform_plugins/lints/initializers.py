"""The lint about initializers that the TrainJob's values do not reach."""

from __future__ import annotations

from trainform_plugins.lints.finished import Finished

KINDS = ("dataset", "model")


def values_reach_no_initializer(job: Finished) -> None:
    """`spec.initializer` goes by the step label, but is checked by the name of the replicated job.

    Why: upstream's webhook looks for a replicated job and container called `dataset-initializer`; the
    values go to the step of that label, into a container of that name. A runtime with the name but not
    the label passes, and fetches its own default dataset. Bites: who copies a runtime and edits labels
    (the silent losses that trainer 3427 and kueue 14504 are about).
    """
    initializer = job.plan.job.spec.initializer
    if initializer is None:
        return
    for kind in KINDS:
        step = f"{kind}-initializer"
        here = [pods for pods in job.jobset.jobs if pods.name == step]
        if getattr(initializer, kind) is None or not here or _reaches(job, step):
            continue  # without such a replicated job, it is an error already
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

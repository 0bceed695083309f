"""What the field under the cursor does."""

from __future__ import annotations

import pytest

from support.marked import ENVIRONMENT, QUEUES, RUNTIME, job, marked
from trainform.editor.features.hover import hover

TORCH = {"runtimes/torch.yaml": RUNTIME}
PROD = {**TORCH, "environments/prod/environment.yaml": ENVIRONMENT, "environments/prod/queues.yaml": QUEUES}
OWN = "environments/prod/environment.yaml"
IMAGE = "spec.replicatedJobs[node].template.spec.template.spec.containers[node].image"
NODE = "spec.replicatedJobs[node].template.spec"


def told(root, files) -> str:
    here = marked(root, files)
    found = hover(here.snapshot, here.file, here.at)
    return found.text if found else ""


def test_a_field_of_a_job_says_what_it_does_and_what_it_renders_to(tmp_path):
    assert told(tmp_path, {**TORCH, "jobs/llm.yaml": job(spec="trainer: {numNodes: 4‸}")}) == (
        "**numNodes** · integer\n\n"
        "The number of training nodes, at least 1; each is a pod. Default: the runtime's `mlPolicy.numNodes`.\n\n"
        "Example: `numNodes: 4`\n\n"
        "In default, it sets\n"
        f"- JobSet/llm `{NODE}.parallelism`: `4`; without it `1`, by runtime torch (runtimes/torch.yaml:7)\n"
        f"- JobSet/llm `{NODE}.completions`: `4`; without it `1`, by runtime torch (runtimes/torch.yaml:7)\n"
        "- JobSet/llm `PET_NNODES`: `4`; without it `1`, by plugin torch (enforce_ml_policy)"
    )


@pytest.mark.parametrize(
    ("files", "says"),
    [
        pytest.param(
            {"jobs/llm.yaml": job(spec="trainer: {ima‸ge: example/torch:1}")},
            "In default, the job renders to the same without it.",
            id="a field that changes nothing",
        ),
        pytest.param(
            {"jobs/llm.yaml": job(spec="runtimeRef: {name: tor‸ch}")},
            "ClusterTrainingRuntime torch: runtimes/torch.yaml:4",
            id="the object that a value names",
        ),
        pytest.param(
            {"jobs/llm.yaml": job(spec="suspend: tr‸ue")}, "One of `true`, `false`.", id="the values that there are"
        ),
        pytest.param(
            {"jobs/llm.yaml": job(spec="trainer:\n  env:\n  - name: PET_NN‸ODES\n    value: x")},
            "`PET_NNODES`: How many nodes",
            id="a variable of the framework",
        ),
        pytest.param(
            {"jobs/llm.yaml": job(spec="trainer:\n  numNodes: 4‸\n  imag")},
            "The number of training nodes",
            id="a field in a text that does not parse",
        ),
        pytest.param(
            {"jobs/a.yaml": job("a"), "jobs/b.yaml": job("b"), "runtimes/torch.yaml": RUNTIME.replace("s: 1", "s: 1‸")},
            f"2 jobs use this runtime.\n\nIn default, for ml/a, it sets\n- JobSet/a `{NODE}.parallelism`: `1`",
            id="a field of a runtime",
        ),
        pytest.param(
            {"jobs/llm.yaml": job(), "runtimes/torch.yaml": RUNTIME.replace("image:", "im‸age:")},
            "Container image name.",
            id="a field of a pod template",
        ),
        pytest.param(
            {**PROD, "jobs/llm.yaml": job(), OWN: ENVIRONMENT.replace("team-a", "team-a‸")},
            "In prod, for ml/llm, it sets\n- JobSet/llm `metadata.labels.kueue.x-k8s.io/queue-name`: `team-a`",
            id="a field of an Environment",
        ),
        pytest.param(
            {
                **PROD,
                "jobs/llm.yaml": job(spec="trainer: {image: example/llm:1‸}"),
                OWN: ENVIRONMENT + "  images: [{name: example/llm, newTag: '2'}]\n",
            },
            f"In prod, others win\n- JobSet/llm `{IMAGE}`: `example/llm:2`, by Environment prod ({OWN}:7)",
            id="who wins over the job",
        ),
        pytest.param(
            {"trainform.yaml": "jobs: jo‸bs\n"}, "The folder of the TrainJobs.", id="a setting of the repository"
        ),
        pytest.param({OWN: QUEUES.replace("clusterQueue:", "cluster‸Queue:")}, "**clusterQueue**", id="a cluster fact"),
    ],
)
def test_it_tells(tmp_path, files, says):
    assert says in told(tmp_path, {**TORCH, **files})


@pytest.mark.parametrize(
    "text", [job(spec="suspend: true # com‸ment"), job() + "\n‸", "---‸\n", "- a\n- b‸", job(spec="unknown‸: 1")]
)
def test_there_is_nothing_to_tell(tmp_path, text):
    assert told(tmp_path, {"jobs/llm.yaml": text}) == ""

"""Go to definition and find references: the cursor is `‸`."""

from __future__ import annotations

import pytest

from support.marked import ENVIRONMENT, QUEUES, RUNTIME, job, marked
from trainform.editor.features.navigation import definition, references

FACTS = "environments/prod/queues.yaml"
OWN = "environments/prod/environment.yaml"
PROD = {OWN: ENVIRONMENT, FACTS: QUEUES}
SETTINGS = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {a: b}\n"
USES_SETTINGS = """\
trainer:
  env:
  - name: A
    valueFrom: {configMapKeyRef: {name: settings, key: a}}
"""


@pytest.mark.parametrize(
    ("files", "found"),
    [
        pytest.param(
            {"jobs/llm.yaml": job(spec="runtimeRef: {name: tor‸ch}"), "runtimes/torch.yaml": RUNTIME},
            ["runtimes/torch.yaml:4 torch"],
            id="a runtime of the repository",
        ),
        pytest.param(
            {"jobs/llm.yaml": job(spec="runtimeRef: {name: torch-distributed‸}")},
            ["catalogue/torch-distributed.yaml:6 torch-distributed"],
            id="a runtime that comes with trainform",
        ),
        pytest.param(
            {"jobs/llm.yaml": job(spec="runtimeRef:\n  na‸me: torch\n"), "runtimes/torch.yaml": RUNTIME},
            ["runtimes/torch.yaml:4 torch"],
            id="from the key as well",
        ),
        pytest.param(
            {
                "jobs/llm.yaml": job(spec="runtimeRef: {name: tor‸ch, kind: TrainingRuntime}"),
                "runtimes/a.yaml": RUNTIME,
            },
            [],
            id="not a runtime of another kind",
        ),
        pytest.param(
            {**PROD, OWN: ENVIRONMENT.replace("team-a", "team‸-a")},
            ["environments/prod/queues.yaml:3 team-a"],
            id="the queue among the facts",
        ),
        pytest.param(
            {**PROD, OWN: ENVIRONMENT.replace("high", "‸high")},
            ["environments/prod/queues.yaml:28 high"],
            id="a priority class",
        ),
        pytest.param(
            {FACTS: QUEUES.replace("clusterQueue: shared", "clusterQueue: shared‸")},
            ["environments/prod/queues.yaml:8 shared"],
            id="from fact to fact",
        ),
        pytest.param(
            {
                "jobs/llm/a.yaml": job(spec=USES_SETTINGS.replace("ttings", "ttings‸")),
                "jobs/llm/b.yaml": SETTINGS,
            },
            ["jobs/llm/b.yaml:3 settings"],
            id="a companion beside the job",
        ),
        pytest.param(
            {"jobs/a/a.yaml": job(spec=USES_SETTINGS.replace("ttings", "ttings‸")), "jobs/b/b.yaml": SETTINGS},
            [],
            id="not a ConfigMap beside another job",
        ),
        pytest.param(
            {
                OWN: ENVIRONMENT + "  cluster:\n    objects: [{kind: Secret, namespace: ml, names: [other, token]}]\n",
                "jobs/llm.yaml": job(spec="initializer: {model: {secretRef: {name: to‸ken}}}"),
            },
            ["environments/prod/environment.yaml:8 token"],
            id="a Secret that the Environment lists",
        ),
        pytest.param(
            {
                OWN: ENVIRONMENT + "    gang: {scheduler: kai, topology: {name: c, preferred: example.com/rack‸}}\n",
                "environments/prod/topology.yaml": "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Topology\n"
                "metadata: {name: c}\nspec:\n  levels:\n  - nodeLabel: example.com/rack\n",
            },
            ["environments/prod/topology.yaml:6 example.com/rack"],
            id="a level of a topology",
        ),
        pytest.param(
            {
                "jobs/llm.yaml": job(
                    spec="""\
                    runtimePatches:
                    - manager: example.com/me
                      trainingRuntimeSpec:
                        template:
                          spec:
                            replicatedJobs:
                            - name: no‸de
                    """
                ),
                "runtimes/torch.yaml": RUNTIME,
            },
            ["runtimes/torch.yaml:12 node"],
            id="what a patch changes in the runtime",
        ),
        pytest.param(
            {
                **PROD,
                "runtimes/torch.yaml": RUNTIME,
                "jobs/a.yaml": job("a"),
                "jobs/b.yaml": job("b"),
                OWN: ENVIRONMENT
                + "  patches:\n  - target: {kind: JobSet, name: ‸b}\n    patch: {metadata: {labels: {team: x}}}\n",
            },
            ["jobs/b.yaml:4 b"],
            id="the jobs that a patch changes",
        ),
        pytest.param(
            {
                **PROD,
                "runtimes/torch.yaml": RUNTIME,
                "jobs/a.yaml": job("a"),
                OWN: ENVIRONMENT
                + "  gitops: {naming: content-hash}\n"
                + "  patches:\n  - target: {kind: JobSet, name: ‸a}\n    patch: {metadata: {labels: {team: x}}}\n",
            },
            ["jobs/a.yaml:4 a"],
            id="the jobs that a patch changes, by their names without a hash",
        ),
        pytest.param(
            {**PROD, OWN: ENVIRONMENT + "  patches: {a: {target: {kind: Job‸Set}}}\n"},
            [],
            id="nothing for patches that are no list",
        ),
        pytest.param({"jobs/llm.yaml": job(spec="suspend: tr‸ue")}, [], id="nothing for a value that names nothing"),
    ],
)
def test_a_name_leads_to_what_it_names(tmp_path, files, found):
    here = marked(tmp_path, files)
    assert here.told(definition(here.snapshot, here.file, here.at)) == found


@pytest.mark.parametrize(
    ("files", "found"),
    [
        pytest.param(
            {
                "runtimes/torch.yaml": RUNTIME.replace("name: torch", "name: tor‸ch"),
                "jobs/a.yaml": job("a"),
                "jobs/b.yaml": job("b", spec="runtimeRef: {name: other}"),
                "jobs/c.yaml": job("c"),
            },
            ["jobs/a.yaml:7 torch", "jobs/c.yaml:7 torch"],
            id="the jobs of a runtime",
        ),
        pytest.param(
            {**PROD, FACTS: QUEUES.replace("team-a", "team-a‸"), "jobs/a.yaml": job("a")},
            ["environments/prod/environment.yaml:6 team-a", "jobs/a.yaml:4 a"],
            id="the Environment that names a queue, and its jobs",
        ),
        pytest.param(
            {
                **PROD,
                OWN: ENVIRONMENT.replace("prod", "prod‸"),
                "jobs/a.yaml": job("a"),
            },
            ["jobs/a.yaml:4 a"],
            id="the jobs of an Environment",
        ),
        pytest.param(
            {
                "jobs/llm/a.yaml": job(spec=USES_SETTINGS),
                "jobs/llm/b.yaml": SETTINGS.replace("ttings", "ttings‸"),
            },
            ["jobs/llm/a.yaml:11 settings"],
            id="the users of a ConfigMap",
        ),
        pytest.param(
            {
                **PROD,
                FACTS: QUEUES.replace("metadata: {name: h100}", "metadata: {name: h100‸}"),
            },
            ["environments/prod/queues.yaml:14 h100"],
            id="the queues of a flavor",
        ),
        pytest.param({"jobs/a.yaml": job("a", spec="suspend: tr‸ue")}, [], id="nothing of a plain value"),
    ],
)
def test_an_object_leads_to_those_who_name_it(tmp_path, files, found):
    here = marked(tmp_path, files)
    assert here.told(references(here.snapshot, here.file, here.at)) == found

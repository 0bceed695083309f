"""An Environment's final patches: which objects they find, what they do, and what they may not do."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import yaml

from trainform.api.environment import FinalPatch, PatchTarget
from trainform.core.patches.objects import apply_patches, read_patches, unmatched

JOBSET: dict[str, Any] = yaml.safe_load("""\
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: llm, namespace: ml, labels: {team: nlp}, annotations: {example.com/cost: high}}
spec:
  replicatedJobs:
  - name: init
    template: {spec: {template: {spec: {containers: [{name: fetch, image: "fetch:1"}]}}}}
  - name: node
    replicas: 1
    template:
      spec:
        parallelism: 2
        template:
          spec:
            containers:
            - {name: node, image: "torch:1", env: [{name: A, value: "1"}, {name: B, value: "2"}]}
            - {name: log, image: "log:1"}
            volumes: [{name: data, emptyDir: {}}]
            tolerations: [{key: gpu}]
""")
CONFIG_MAP = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "llm-settings", "namespace": "ml"},
    "data": {"a": "1", "b": "2"},
}
POD_GROUP = {
    "apiVersion": "scheduling.x-k8s.io/v1alpha1",
    "kind": "PodGroup",
    "metadata": {"name": "llm", "namespace": "ml"},
    "spec": {"minMember": 3},
}
OBJECTS = [CONFIG_MAP, POD_GROUP, JOBSET]
NAME_OF_JOBSET = "{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {name: llm}}"


Target = PatchTarget.model_construct


def a_patch(patch, target=None):
    return FinalPatch.model_construct(patch=patch, target=target)


def on_jobset(patch):
    """A patch of the JobSet; from YAML to the tree that an Environment would hold."""
    return a_patch(yaml.safe_load(patch), Target(kind="JobSet"))


def patched(*patches):
    read, problems = read_patches(patches)
    assert problems == []
    result = apply_patches(OBJECTS, read)
    assert result.problems == []
    return {tree["kind"]: tree for tree in result.objects}


def problems_of(*patches):
    read, problems = read_patches(patches)
    return problems + apply_patches(OBJECTS, read).problems


def found_by(target):
    read, problems = read_patches([a_patch({"metadata": {"labels": {"found": "yes"}}}, target)])
    assert problems == []
    objects = apply_patches(OBJECTS, read).objects
    return [tree["kind"] for tree in objects if "found" in tree["metadata"].get("labels", {})]


def pod(tree, job=1):
    return tree["spec"]["replicatedJobs"][job]["template"]["spec"]["template"]["spec"]


def in_pod(fields):
    """A patch of the pods of job `node`."""
    return on_jobset(
        f"spec: {{replicatedJobs: [{{name: node, template: {{spec: {{template: {{spec: {fields}}}}}}}}}]}}"
    )


@pytest.mark.parametrize(
    ("target", "kinds"),
    [
        (Target(), ["ConfigMap", "PodGroup", "JobSet"]),
        (Target(kind=""), ["ConfigMap", "PodGroup", "JobSet"]),
        (Target(kind="JobSet"), ["JobSet"]),
        (Target(kind="Job"), []),
        (Target(kind="JobSet|PodGroup"), ["PodGroup", "JobSet"]),
        (Target(kind="jobset"), []),
        (Target(name="llm"), ["PodGroup", "JobSet"]),
        (Target(name="llm.*"), ["ConfigMap", "PodGroup", "JobSet"]),
        (Target(name="llm-.+"), ["ConfigMap"]),
        (Target(namespace="ml"), ["ConfigMap", "PodGroup", "JobSet"]),
        (Target(namespace="m"), []),
        (Target(version="v1"), ["ConfigMap"]),
        (Target(version="v1alpha."), ["PodGroup", "JobSet"]),
        (Target(group="jobset.x-k8s.io", version="v1alpha2", kind="JobSet"), ["JobSet"]),
        (Target(group=r".*\.x-k8s\.io"), ["PodGroup", "JobSet"]),
        (Target(label_selector="team=nlp"), ["JobSet"]),
        (Target(label_selector="team in (nlp, vision)"), ["JobSet"]),
        (Target(label_selector="!team"), ["ConfigMap", "PodGroup"]),
        (Target(label_selector="team!=nlp", kind="PodGroup"), ["PodGroup"]),
        (Target(annotation_selector="example.com/cost=high"), ["JobSet"]),
        (Target(annotation_selector="example.com/cost=low"), []),
    ],
)
def test_a_target_finds_objects(target, kinds):
    assert found_by(target) == kinds


@pytest.mark.parametrize(
    ("identity", "kinds"),
    [
        (NAME_OF_JOBSET, ["JobSet"]),
        (
            "{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {name: llm, namespace: ml}}",
            ["JobSet"],
        ),
        ("{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {name: llm, namespace: x}}", []),
        ("{apiVersion: jobset.x-k8s.io/v1alpha1, kind: JobSet, metadata: {name: llm}}", []),
        ("{apiVersion: v1, kind: ConfigMap, metadata: {name: llm-.*}}", []),
        ("{apiVersion: v1, kind: ConfigMap, metadata: {name: llm-settings}}", ["ConfigMap"]),
    ],
)
def test_a_merge_patch_without_target_names_its_object(identity, kinds):
    patch = yaml.safe_load(identity)
    patch["metadata"]["labels"] = {"found": "yes"}
    read, problems = read_patches([a_patch(patch)])
    assert problems == []
    result = apply_patches(OBJECTS, read)
    assert [tree["kind"] for tree in result.objects if "found" in tree["metadata"].get("labels", {})] == kinds
    assert result.matched == ({0} if kinds else set())


def test_a_merge_patch_of_a_jobset_merges_lists_by_their_keys():
    change = in_pod('{containers: [{name: node, env: [{name: B, value: "3"}]}], tolerations: [{key: spot}]}')
    after = patched(change)["JobSet"]
    assert pod(after) == {
        "containers": [
            {
                "name": "node",
                "image": "torch:1",
                "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "3"}],
            },
            {"name": "log", "image": "log:1"},
        ],
        "volumes": [{"name": "data", "emptyDir": {}}],
        "tolerations": [{"key": "spot"}],
    }
    assert [job["name"] for job in after["spec"]["replicatedJobs"]] == ["init", "node"]


@pytest.mark.parametrize(
    ("fields", "field", "names"),
    [
        ("{containers: [{name: log, $patch: delete}]}", "containers", ["node"]),
        ("{containers: [{$patch: replace}, {name: only, image: a}]}", "containers", ["only"]),
        ("{volumes: null}", "volumes", []),
        ("{volumes: [{name: more, emptyDir: {}}]}", "volumes", ["more", "data"]),
        ("{$patch: replace, containers: [{name: only, image: a}]}", "volumes", []),
    ],
)
def test_directives_of_a_merge_patch(fields, field, names):
    assert [entry["name"] for entry in pod(patched(in_pod(fields))["JobSet"]).get(field, [])] == names


def test_a_volume_gets_another_source_in_place_of_the_old_one():
    change = in_pod("{volumes: [{name: data, persistentVolumeClaim: {claimName: lake}}]}")
    assert pod(patched(change)["JobSet"])["volumes"] == [
        {"name": "data", "persistentVolumeClaim": {"claimName": "lake"}}
    ]


def test_a_merge_patch_of_another_kind():
    target = Target(kind="ConfigMap")
    assert patched(a_patch({"data": {"a": None, "c": "3"}}, target))["ConfigMap"]["data"] == {
        "b": "2",
        "c": "3",
    }


@pytest.mark.parametrize(
    "patch",
    [
        a_patch({"$patch": "delete"}, Target(kind="PodGroup")),
        a_patch("$patch: delete", Target(kind="PodGroup")),
        a_patch({**{key: POD_GROUP[key] for key in ("apiVersion", "kind", "metadata")}, "$patch": "delete"}),
    ],
)
def test_delete_removes_an_object(patch):
    assert list(patched(patch)) == ["ConfigMap", "JobSet"]


def test_json_patch():
    change = """\
    - {op: test, path: /spec/replicatedJobs/1/name, value: node}
    - {op: add, path: /spec/replicatedJobs/1/template/spec/template/spec/containers/0/env/-, value: {name: C}}
    - {op: add, path: /metadata/labels/example.com~1queue, value: a}
    - {op: remove, path: /spec/replicatedJobs/0}
    - {op: add, path: /spec/suspend, value: null}
    """
    after = patched(on_jobset(change))["JobSet"]
    assert after["metadata"]["labels"] == {"team": "nlp", "example.com/queue": "a"}
    assert [variable["name"] for variable in pod(after, 0)["containers"][0]["env"]] == ["A", "B", "C"]
    assert "suspend" not in after["spec"]


@pytest.mark.parametrize(
    "text",
    [
        "- op: add\n  path: /data/c\n  value: '3'\n",
        "# a comment\n---\n- {op: add, path: /data/c, value: '3'}\n...\n",
        '[{"op": "add", "path": "/data/c", "value": "3"}]',
        '{"data": {"c": "3"}}',
        "data:\n  c: '3'\n",
        "---\ndata: {c: '3'}\n---\n",
    ],
)
def test_a_patch_may_be_a_text(text):
    after = patched(a_patch(text, Target(kind="ConfigMap")))["ConfigMap"]
    assert after["data"] == {"a": "1", "b": "2", "c": "3"}


def test_each_patch_sees_what_the_ones_before_it_left():
    first = on_jobset("metadata: {labels: {tier: gold}}")
    second = a_patch([{"op": "remove", "path": "/metadata/labels/tier"}], Target(label_selector="tier=gold"))
    assert patched(first, second)["JobSet"] == JOBSET


def test_nothing_given_is_changed_and_what_is_not_patched_is_shared():
    change = in_pod("{containers: [{name: node, image: 'torch:2'}]}")
    before = copy.deepcopy(OBJECTS)
    after = patched(change)
    assert before == OBJECTS
    assert pod(after["JobSet"], 0) is pod(JOBSET, 0)
    assert after["ConfigMap"] is CONFIG_MAP


def test_the_last_patch_that_changed_an_object_is_known():
    label = {"metadata": {"labels": {"team": "nlp"}}}
    delete = a_patch({"$patch": "delete"}, Target(kind="PodGroup"))
    read, _ = read_patches([a_patch(label, Target()), a_patch(label, Target()), delete])
    result = apply_patches(OBJECTS, read)
    assert result.changed == {"ConfigMap/llm-settings": 0, "PodGroup/llm": 2}
    assert result.matched == {0, 1, 2}


@pytest.mark.parametrize(
    ("patch", "path", "message", "hint"),
    [
        (a_patch([{"op": "remove", "path": "/spec"}]), "target", "is required", "write target: {kind: JobSet}"),
        (a_patch({"spec": {}}), "patch.kind", "must identify the object", "`target`"),
        (
            a_patch({"kind": "JobSet", "metadata": {"name": "x"}}),
            "patch.apiVersion",
            "must identify the object",
            "",
        ),
        (a_patch({"apiVersion": "v1", "kind": "ConfigMap"}), "patch.metadata.name", "must identify the object", ""),
        (a_patch({}, Target()), "patch", "must be a strategic merge patch", "remove an empty patch"),
        (a_patch("", Target()), "patch", "must be a strategic merge patch", ""),
        (a_patch("just words", Target()), "patch", "must be a strategic merge patch", ""),
        (a_patch({"a": 1}, Target(name="[")), "target.name", "'[' is invalid", ""),
        (a_patch({"a": 1}, Target(kind="a{9999999999999}")), "target.kind", "is invalid", ""),
        (a_patch({"a": 1}, Target(label_selector="a in")), "target.labelSelector", "is invalid", ""),
        (a_patch([{"op": "set"}], Target()), "patch.0.op", "must be add, remove", ""),
        (a_patch([{"op": "remove"}, 3], Target()), "patch.0.path", "`remove` needs `path`", ""),
    ],
)
def test_what_is_wrong_without_any_object(patch, path, message, hint):
    read, problems = read_patches([a_patch({"a": 1}, Target()), patch])
    assert [each.index for each in read] == [0]
    assert problems[0].index == 1
    assert ".".join(map(str, problems[0].path)) == path
    assert message in problems[0].message
    assert hint in problems[0].hint


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("spec:\n  a: 1\n b: 2\n", 3, 2, ""),
        ("spec: {}\nspec: {}\n", 2, 1, "duplicate key"),
        ("a: 1\n---\nb: 2\n", 2, 1, "a second one starts here"),
        ("- {op: remove, path: /a}\n- op: remov\n  path: /a\n", 2, 7, "must be add, remove"),
        ("- op: test\n  path: /metadata/name\n  value: other\n", 3, 10, '/metadata/name is "llm"'),
        ("spec:\n  replicatedJobs:\n  - template: {}\n", 3, 5, "needs `name`"),
        ("a: &a [*a]", 1, 4, "contains an alias of itself"),
        ("[" * 200, 1, 100, "nested more than"),
    ],
)
def test_a_problem_in_a_text_has_its_line(text, line, column, message):
    problem = problems_of(a_patch(text, Target(kind="JobSet")))[0]
    assert problem.path[0] == "patch"
    assert problem.at == (line, column)
    assert message in problem.message


@pytest.mark.parametrize(
    "identity",
    ["kind: Job", "apiVersion: v1", "metadata: {name: any}", "metadata: {namespace: any, name: null}"],
)
def test_with_a_target_the_name_and_kind_of_a_merge_patch_are_overlooked(identity):
    read, problems = read_patches([on_jobset(f"{{{identity}, spec: {{suspend: true}}}}")])
    result = apply_patches(OBJECTS, read)
    assert [*problems, *result.problems] == []
    (jobset,) = (tree for tree in result.objects if tree["kind"] == "JobSet")
    assert jobset["metadata"] == next(tree for tree in OBJECTS if tree["kind"] == "JobSet")["metadata"]
    assert jobset["spec"]["suspend"] is True


@pytest.mark.parametrize(
    ("patch", "path", "message"),
    [
        ("{status: {restarts: 0}}", "patch.status", "status is set by the cluster"),
        ("[{op: replace, path: /metadata/name, value: other}]", "patch.0", "metadata.name cannot be changed"),
        ("[{op: move, from: /metadata/name, path: /spec/x}]", "patch.0", "metadata.name cannot be changed"),
        (
            "[{op: test, path: /kind, value: JobSet}, {op: remove, path: /metadata/namespace}]",
            "patch.1",
            "metadata.namespace cannot be changed",
        ),
        ("[{op: add, path: /status, value: {}}]", "patch.0", "status is set by the cluster"),
        ("[{op: replace, path: '', value: []}]", "patch", "must not remove the whole object"),
        ("[{op: remove, path: /spec/none}]", "patch.0.path", 'there is no "none" in /spec'),
        ("{$patch: remove}", "patch.$patch", "must be `replace` or `delete`"),
        ("{spec: {replicatedJobs: [{replicas: 2}]}}", "patch.spec.replicatedJobs.0", "needs `name`"),
    ],
)
def test_a_patch_that_an_object_refuses_leaves_it_alone(patch, path, message):
    read, problems = read_patches([on_jobset(patch)])
    assert problems == []
    result = apply_patches(OBJECTS, read)
    assert result.objects == OBJECTS
    assert result.changed == {}
    assert result.matched == {0}
    (problem,) = result.problems
    assert problem.object == "JobSet/llm"
    assert ".".join(map(str, problem.path)) == path
    assert message in problem.message


def test_all_that_a_patch_may_not_change_is_told_at_once():
    patch = on_jobset("[{op: replace, path: '', value: {metadata: {name: llm}}}]")
    messages = [problem.message.split()[0] for problem in problems_of(patch)]
    assert messages == ["apiVersion", "kind", "metadata.namespace"]


def test_what_stays_the_same_may_be_said():
    identity = {key: copy.deepcopy(JOBSET[key]) for key in ("apiVersion", "kind", "metadata")}
    assert patched(a_patch(identity, Target(kind="JobSet")))["JobSet"] == JOBSET


@pytest.mark.parametrize(
    ("patch", "path", "what", "hint"),
    [
        (a_patch([], Target(kind="Jobset")), "target.kind", "kind 'Jobset'", 'did you mean "JobSet"?'),
        (
            a_patch([], Target(kind="Secret")),
            "target.kind",
            "kind 'Secret'",
            "available: ConfigMap, JobSet, PodGroup",
        ),
        (a_patch([], Target(kind="JobSet", name="lm")), "target.name", "name 'lm'", 'did you mean "llm"?'),
        (a_patch([], Target(namespace="prod")), "target.namespace", "namespace 'prod'", "available: ml"),
        (a_patch([], Target(group="apps", kind="JobSet")), "target.group", "group 'apps'", "jobset.x-k8s.io"),
        (a_patch([], Target(label_selector="a=b")), "target.labelSelector", "labelSelector 'a=b'", ""),
        (
            a_patch({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "llm-setting"}}),
            "patch.metadata.name",
            "name 'llm-setting'",
            'did you mean "llm-settings"?',
        ),
    ],
)
def test_a_patch_that_finds_nothing_anywhere(patch, path, what, hint):
    patch = patch.model_copy(update={"patch": patch.patch or {"metadata": {"labels": {"a": "b"}}}})
    read, problems = read_patches([a_patch({"data": {"c": "1"}}, Target(kind="ConfigMap")), patch])
    assert problems == []
    (problem,) = unmatched(read, apply_patches(OBJECTS, read).matched, OBJECTS)
    assert (problem.index, ".".join(map(str, problem.path))) == (1, path)
    assert problem.message == f"matches nothing in any job: none has {what}"
    assert hint in problem.hint


def test_a_patch_is_for_some_jobs_only():
    read, _ = read_patches([a_patch({"data": {"c": "1"}}, Target(kind="ConfigMap"))])
    matched = apply_patches([JOBSET], read).matched | apply_patches(OBJECTS, read).matched
    assert unmatched(read, matched, OBJECTS) == []


def test_without_any_object_every_patch_finds_nothing():
    read, _ = read_patches([a_patch({"data": {}}, Target())])
    assert [problem.message for problem in unmatched(read, (), [])] == ["matches nothing in any job"]

"""What a strategic merge patch does to a pod template, a Job template and a JobSet."""

import copy

import pytest

from trainform.k8s.patch.merge_keys import JOB_SET, OBJECT, POD_SPEC
from trainform.k8s.patch.strategic_merge import MergeError, merge, replaced_sources, without_unset


def pod(base, patch):
    return merge(base, patch, POD_SPEC)


def named(*names):
    return [{"name": name} for name in names]


def test_maps_merge_and_scalars_are_replaced():
    base = {"nodeSelector": {"gpu": "h100", "zone": "a"}, "serviceAccountName": "default"}
    patch = {"nodeSelector": {"zone": "b"}, "serviceAccountName": "trainer"}
    assert pod(base, patch) == {"nodeSelector": {"gpu": "h100", "zone": "b"}, "serviceAccountName": "trainer"}


def test_null_removes():
    assert pod({"nodeSelector": {"gpu": "h100", "zone": "a"}}, {"nodeSelector": {"gpu": None}}) == {
        "nodeSelector": {"zone": "a"}
    }
    assert pod({"schedulerName": "volcano"}, {"schedulerName": None, "priorityClassName": None}) == {}


def test_null_leaves_no_trace_in_a_part_that_is_new():
    affinity: dict = {"nodeAffinity": None, "podAffinity": {}}
    assert pod({}, {"affinity": affinity}) == {"affinity": {"podAffinity": {}}}


def test_a_list_without_merge_key_is_replaced_whole():
    base = {"tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}]}
    assert pod(base, {"tolerations": [{"key": "spot"}]}) == {"tolerations": [{"key": "spot"}]}


def test_new_volumes_stand_before_the_old_ones():
    # As the controller merges volumes `extra, shm` of a TrainJob into those of a runtime.
    merged = pod({"volumes": named("cfg", "host")}, {"volumes": named("extra", "shm")})
    assert merged["volumes"] == named("extra", "shm", "cfg", "host")


@pytest.mark.parametrize(
    ("base", "patch", "merged"),
    [
        ("a b c", "b", "a b c"),
        ("a b c", "c a", "b c a"),
        ("a b c", "x b", "x a b c"),
        ("a b c", "b x", "a b x c"),
        ("a b", "x y", "x y a b"),
        ("", "b a", "b a"),
        ("a b", "", "a b"),
    ],
)
def test_order_of_a_merged_list(base, patch, merged):
    result = pod({"imagePullSecrets": named(*base.split())}, {"imagePullSecrets": named(*patch.split())})
    assert result["imagePullSecrets"] == named(*merged.split())


def test_containers_and_their_lists_merge_by_their_keys():
    base = {
        "containers": [
            {
                "name": "node",
                "image": "train:1",
                "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
                "volumeMounts": [{"name": "data", "mountPath": "/data"}],
                "args": ["--epochs", "1"],
            },
            {"name": "sidecar", "image": "proxy"},
        ]
    }
    patch = {
        "containers": [
            {
                "name": "node",
                "env": [{"name": "B", "value": "3"}],
                "volumeMounts": [{"name": "fast", "mountPath": "/data"}],
                "args": ["--fast"],
            }
        ]
    }
    node, sidecar = pod(base, patch)["containers"]
    assert node == {
        "name": "node",
        "image": "train:1",
        "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "3"}],
        "volumeMounts": [{"name": "fast", "mountPath": "/data"}],
        "args": ["--fast"],
    }
    assert sidecar is base["containers"][1]


def test_a_variable_patched_from_a_field_to_a_value_keeps_both():
    # Kubernetes merges the entry as any other; that the pair is invalid shows in the result.
    base = {"containers": [{"name": "node", "env": [{"name": "IP", "valueFrom": {"fieldRef": {}}}]}]}
    patch = {"containers": [{"name": "node", "env": [{"name": "IP", "value": "patched"}]}]}
    assert pod(base, patch)["containers"][0]["env"] == [
        {"name": "IP", "valueFrom": {"fieldRef": {}}, "value": "patched"}
    ]


def test_of_two_ports_with_one_number_the_first_is_patched():
    ports = [{"containerPort": 53}, {"containerPort": 53, "protocol": "UDP"}]
    base = {"containers": [{"name": "c", "ports": ports}]}
    patch = {"containers": [{"name": "c", "ports": [{"containerPort": 53, "hostPort": 1}]}]}
    assert pod(base, patch)["containers"][0]["ports"] == [
        {"containerPort": 53, "hostPort": 1},
        {"containerPort": 53, "protocol": "UDP"},
    ]


class TestVolumeSources:
    base = (
        {"name": "data", "persistentVolumeClaim": {"claimName": "datasets"}},
        {"name": "shm", "emptyDir": {}},
    )

    def merged(self, patch):
        return pod({"volumes": list(self.base)}, {"volumes": [patch]})["volumes"]

    def test_another_source_replaces_the_old_one(self):
        assert self.merged({"name": "data", "emptyDir": {}})[0] == {"name": "data", "emptyDir": {}}

    def test_the_same_source_merges(self):
        assert self.merged({"name": "data", "persistentVolumeClaim": {"readOnly": True}})[0] == {
            "name": "data",
            "persistentVolumeClaim": {"claimName": "datasets", "readOnly": True},
        }

    def test_a_patch_that_names_no_source_changes_none(self):
        assert self.merged({"name": "data", "emptyDir": None}) == list(self.base)

    def test_replaced_sources_are_named(self):
        patch = [
            {"name": "data", "emptyDir": {}},
            {"name": "shm", "emptyDir": {"medium": "Memory"}},
            {"name": "new", "emptyDir": {}},
        ]
        assert replaced_sources(self.base, patch) == ["data"]


class TestJobSet:
    def test_replicated_jobs_keep_their_order(self):
        base = {"spec": {"replicatedJobs": named("init", "node")}}
        jobs = [{"name": "node", "replicas": 2}, {"name": "init"}, {"name": "new"}]
        patch = {"spec": {"replicatedJobs": jobs}}
        assert merge(base, patch, JOB_SET)["spec"]["replicatedJobs"] == [
            {"name": "init"},
            {"name": "node", "replicas": 2},
            {"name": "new"},
        ]

    def test_a_patch_reaches_the_pods_of_one_job(self):
        def job(name, *containers):
            pod_template = {"spec": {"containers": list(containers)}}
            return {"name": name, "template": {"spec": {"template": pod_template}}}

        old, new = {"name": "node", "image": "old"}, {"name": "node", "image": "new"}
        base = {"spec": {"replicatedJobs": [job("launcher", old), job("node", old)]}}
        patch = {"spec": {"replicatedJobs": [job("node", new)]}}
        merged = merge(base, patch, JOB_SET)["spec"]["replicatedJobs"]
        assert merged == [job("launcher", old), job("node", new)]


class TestDirectives:
    def test_replace_and_delete_of_a_map(self):
        base = {"nodeSelector": {"gpu": "h100"}}
        patch = {"nodeSelector": {"$patch": "replace", "zone": "a"}}
        assert pod(base, patch) == {"nodeSelector": {"zone": "a"}}
        assert pod(base, {"nodeSelector": {"$patch": "delete"}}) == {"nodeSelector": {}}

    def test_delete_of_a_list_entry(self):
        patch = {"volumes": [{"name": "b", "$patch": "delete"}, {"name": "x"}]}
        assert pod({"volumes": named("a", "b")}, patch) == {"volumes": named("x", "a")}

    def test_replace_of_a_whole_list(self):
        patch = {"volumes": [{"$patch": "replace"}, {"name": "x"}]}
        assert pod({"volumes": named("a", "b")}, patch) == {"volumes": named("x")}

    def test_retain_keys(self):
        patch = {"$retainKeys": ["dnsPolicy"], "dnsPolicy": "Default"}
        assert pod({"dnsPolicy": "ClusterFirst", "hostNetwork": True}, patch) == {"dnsPolicy": "Default"}

    def test_set_element_order(self):
        patch = {"volumes": named("x"), "$setElementOrder/volumes": named("c", "x", "a")}
        assert pod({"volumes": named("a", "b", "c")}, patch) == {"volumes": named("b", "c", "x", "a")}

    def test_finalizers_merge_and_are_deleted_by_value(self):
        base = {"metadata": {"finalizers": ["a", "b", "c"]}}
        assert merge(base, {"metadata": {"finalizers": ["z", "b"]}}, OBJECT) == {
            "metadata": {"finalizers": ["z", "a", "b", "c"]}
        }
        patch = {"metadata": {"$deleteFromPrimitiveList/finalizers": ["b"]}}
        assert merge(base, patch, OBJECT) == {"metadata": {"finalizers": ["a", "c"]}}

    def test_directives_leave_no_trace_in_a_part_that_is_new(self):
        patch = {"containers": [{"name": "n", "env": [{"name": "A", "$patch": "delete"}, {"name": "B"}]}]}
        assert pod({}, patch) == {"containers": [{"name": "n", "env": named("B")}]}
        replacement = {"$patch": "replace", "searches": ["x"]}
        assert pod({}, {"dnsConfig": replacement}) == {"dnsConfig": {"searches": ["x"]}}


DIRECTIVES = {
    "$retainKeys": ["a", "b"],
    "$setElementOrder/a": ["y", "x"],
    "$deleteFromPrimitiveList/a": ["x"],
}


@pytest.mark.parametrize("directive", DIRECTIVES)
@pytest.mark.parametrize("replaces", [False, True], ids=["added", "replaced"])
@pytest.mark.parametrize("base", [{}, {"dnsConfig": {"a": ["w"], "c": "z"}}], ids=["absent", "present"])
def test_a_directive_never_reaches_the_result(base, replaces, directive):
    part = {directive: DIRECTIVES[directive], "a": ["x", "y"], **({"$patch": "replace"} if replaces else {})}
    if base and not replaces and directive.startswith("$setElementOrder"):
        part["a"] = []  # a list that is replaced whole has no order to check
    merged = pod(base, {"dnsConfig": part})
    assert "$" not in str(merged)
    assert "a" in merged["dnsConfig"]


@pytest.mark.parametrize("directive", DIRECTIVES)
def test_a_directive_in_an_entry_of_a_new_list_never_reaches_the_result(directive):
    entry = {"name": "v", directive: DIRECTIVES[directive], "emptyDir": {}}
    assert pod({}, {"volumes": [entry]}) == {"volumes": [{"name": "v", "emptyDir": {}}]}
    assert pod({"tolerations": []}, {"tolerations": [{directive: [], "key": "k"}]}) == {"tolerations": [{"key": "k"}]}


def test_an_entry_of_the_base_that_is_no_mapping_is_told_where_another_is_deleted():
    with pytest.raises(MergeError, match="needs `name`"):
        pod({"volumes": ["a", {"name": "b"}]}, {"volumes": [{"name": "b", "$patch": "delete"}]})


def test_a_replacement_has_no_null():
    patch = {"nodeSelector": {"$patch": "replace", "a": None, "b": {"c": None}}}
    assert pod({"nodeSelector": {"x": "y"}}, patch) == {"nodeSelector": {"b": {}}}


@pytest.mark.parametrize(
    ("patch", "path", "reason"),
    [
        ({"volumes": [{"name": "a"}, {"emptyDir": {}}]}, ("volumes", 1), "needs `name`"),
        ({"volumes": ["a"]}, ("volumes", 0), "needs `name`"),
        ({"volumes": [{"name": {}}]}, ("volumes", 0), "needs `name`"),
        ({"volumes": [{"name": "a", "$patch": "merge"}]}, ("volumes", 0, "$patch"), "`replace` or `delete`"),
        ({"nodeSelector": {"$patch": "remove"}}, ("nodeSelector", "$patch"), "`replace` or `delete`"),
        (
            {"affinity": {"podAffinity": {"$patch": 1}}},
            ("affinity", "podAffinity", "$patch"),
            "`replace` or `delete`",
        ),
        ({"$retainKeys": ["a"], "b": 1}, ("$retainKeys",), "must list `b`"),
        ({"$retainKeys": "a"}, ("$retainKeys",), "must be a list"),
        ({"$setElementOrder/volumes": "a"}, ("$setElementOrder/volumes",), "not a list"),
        ({"$unknown/volumes": []}, ("$unknown/volumes",), "not a directive"),
        (
            {"volumes": named("x", "y"), "$setElementOrder/volumes": named("y", "x")},
            ("$setElementOrder/volumes", 1),
            "must list `y`",
        ),
    ],
)
def test_a_patch_that_cannot_be_applied_says_where_and_why(patch, path, reason):
    with pytest.raises(MergeError, match=reason) as failure:
        pod({"volumes": named("v"), "nodeSelector": {}}, patch)
    assert failure.value.path == path


def test_neither_tree_changes_and_untouched_parts_are_shared():
    base = {"containers": [{"name": "node", "env": named("A")}], "affinity": {"nodeAffinity": {}}}
    patch = {"containers": [{"name": "node", "env": named("B")}], "tolerations": [{"key": "k"}]}
    before = copy.deepcopy((base, patch))
    merged = pod(base, patch)
    assert (base, patch) == before
    assert merged["affinity"] is base["affinity"]
    assert merged["tolerations"] is patch["tolerations"]


def test_a_typed_client_sends_neither_null_nor_empty_lists():
    kept: dict = {"emptyDir": {}}
    patch = {"schedulerName": None, "tolerations": [], "volumes": [kept, {"name": "a", "x": None}]}
    sent = without_unset(patch)
    assert sent == {"volumes": [kept, {"name": "a"}]}
    assert sent["volumes"][0] is kept

"""What holds for every strategic merge patch of a pod spec."""

import copy

from hypothesis import given, settings
from hypothesis import strategies as st

from trainform.k8s.patch.merge_keys import POD_SPEC
from trainform.k8s.patch.strategic_merge import merge

NAMES = st.sampled_from(["a", "b", "c", "d"])
VALUES = st.sampled_from(["1", "2"])


def by_name(entries):
    return st.lists(entries, max_size=4, unique_by=lambda entry: entry["name"])


variables = st.fixed_dictionaries({"name": NAMES, "value": VALUES})
containers = st.fixed_dictionaries({"name": NAMES}, optional={"image": VALUES, "env": by_name(variables)})
pod_specs = st.fixed_dictionaries(
    {},
    optional={
        "containers": by_name(containers),
        "volumes": by_name(st.fixed_dictionaries({"name": NAMES, "emptyDir": st.just({})})),
        "nodeSelector": st.dictionaries(NAMES, VALUES, max_size=3),
        "tolerations": st.lists(st.fixed_dictionaries({"key": NAMES}), max_size=2),
        "schedulerName": VALUES,
    },
)


def names(spec, field):
    return [entry["name"] for entry in spec.get(field, [])]


def is_subsequence(part, whole):
    rest = iter(whole)
    return all(item in rest for item in part)


@given(pod_specs, pod_specs)
@settings(max_examples=100, deadline=None)
def test_neither_tree_changes(base, patch):
    before = copy.deepcopy((base, patch))
    merge(base, patch, POD_SPEC)
    assert (base, patch) == before


@given(pod_specs, pod_specs)
@settings(max_examples=100, deadline=None)
def test_applying_a_patch_twice_is_applying_it_once(base, patch):
    once = merge(base, patch, POD_SPEC)
    assert merge(once, patch, POD_SPEC) == once


@given(pod_specs)
@settings(max_examples=50, deadline=None)
def test_an_empty_patch_changes_nothing_and_an_empty_base_takes_the_patch(spec):
    assert merge(spec, {}, POD_SPEC) == spec
    assert merge({}, spec, POD_SPEC) == spec
    assert merge(spec, spec, POD_SPEC) == spec


@given(pod_specs, pod_specs)
@settings(max_examples=100, deadline=None)
def test_every_entry_of_both_lists_is_there_once_and_in_order(base, patch):
    for field in ("containers", "volumes"):
        merged = names(merge(base, patch, POD_SPEC), field)
        assert sorted(merged) == sorted({*names(base, field), *names(patch, field)})
        assert is_subsequence(names(patch, field), merged)
        assert is_subsequence([n for n in names(base, field) if n not in names(patch, field)], merged)


@given(pod_specs, pod_specs)
@settings(max_examples=50, deadline=None)
def test_null_takes_away_whatever_the_base_holds(base, patch):
    removal = dict.fromkeys(patch)
    assert merge(base, removal, POD_SPEC) == {key: value for key, value in base.items() if key not in patch}

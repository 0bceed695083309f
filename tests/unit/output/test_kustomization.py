"""The lists of earlier versions, which are told from everything else by their bytes."""

from __future__ import annotations

from hashlib import sha256

import pytest
import yaml

from trainform.output.kustomization import earlier_list, is_earlier_list, job_kustomization, without_earlier_list


def digest(data: bytes) -> str:
    return sha256(data).hexdigest()


@pytest.mark.parametrize("names", [[], ["llm"], ["b", "a"], ["123", "1e3", "true"], ["a", "a"]])
def test_a_list_of_folders_in_any_order(names):
    data = earlier_list(names)
    assert yaml.safe_load(data)["resources"] == names
    assert is_earlier_list(data)


@pytest.mark.parametrize(
    "line", ["namePrefix: x-", "- ../other", "patches:", "kind: Component", "# mine", "- a b", " "]
)
def test_a_list_that_says_more(line):
    assert not is_earlier_list(earlier_list(["a"]) + line.encode() + b"\n")


@pytest.mark.parametrize("end", ["\r", "\x85", "\u2028", "\u2029"])
def test_a_comment_that_ends_early_for_yaml(end):
    """Such a line is one for some readers and two for others."""
    smuggled = f"# a comment{end}namePrefix: evil-\n".encode()
    assert not is_earlier_list(smuggled + earlier_list(["a"]))
    assert not is_earlier_list(earlier_list(["a"]).replace(b"`.\n", f"`.{end}namePrefix: evil-\n".encode(), 1))


def test_a_list_in_which_git_left_a_conflict():
    assert not is_earlier_list(earlier_list(["a"]) + b"<<<<<<< HEAD\n- b\n=======\n- c\n>>>>>>> other\n")


def test_a_job_without_the_list_of_an_earlier_version():
    own = {"jobset-llm.yaml": "1", "configmap-hosts.yaml": "2"}
    files = {**own, "kustomization.yaml": digest(earlier_list(sorted(own)))}
    assert without_earlier_list(files) == own


@pytest.mark.parametrize(
    "data", [earlier_list(["other.yaml"]), job_kustomization(["jobset-llm.yaml"])], ids=["foreign", "asked-for"]
)
def test_any_other_kustomization_of_a_job_stays(data):
    files = {"jobset-llm.yaml": "1", "kustomization.yaml": digest(data)}
    assert without_earlier_list(files) == files

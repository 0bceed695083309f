"""Which key Secrets jobs need, and which documents are key files."""

from __future__ import annotations

import pytest

from trainform.core.secrets import SecretNeed, key_files


@pytest.mark.parametrize(
    ("kind", "type_", "keys"),
    [
        ("ssh", "kubernetes.io/ssh-auth", ("ssh-privatekey", "ssh-publickey")),
        ("curve", "Opaque", ("curve.cert",)),
    ],
)
def test_what_pods_look_for(kind, type_, keys):
    need = SecretNeed.of(kind, "s", "ml")
    assert (need.type, need.keys) == (type_, keys)


def test_no_two_secrets_share_a_file():
    files = {SecretNeed.of("ssh", name, space).file for space, name in (("a", "b-c"), ("a-b", "c"))}
    assert files == {"a.b-c.yaml", "a-b.c.yaml"}


HEAD = {"apiVersion": "v1", "metadata": {"name": "s", "namespace": "ml"}}


@pytest.mark.parametrize(
    ("tree", "is_one"),
    [
        ({"kind": "SealedSecret", **HEAD}, True),
        ({"kind": "Secret", "sops": {}, **HEAD}, True),
        ({"kind": "Secret", "stringData": {"ssh-privatekey": "in the clear"}, **HEAD}, True),
        ({"kind": "Secret", "data": {"curve.cert": "in the clear"}, **HEAD}, True),
        ({"kind": "Secret", "data": {".dockerconfigjson": "e30="}, **HEAD}, False),
        ({"kind": "Secret", "data": "?", **HEAD}, False),
        ({"kind": "Queue", **HEAD}, False),
        ({"kind": "SealedSecret", **HEAD, "apiVersion": ["v1"]}, False),
        ({"kind": "SealedSecret", "metadata": HEAD["metadata"]}, False),
        ({"kind": "SealedSecret", **HEAD, "metadata": {"name": "s"}}, False),
        ({"kind": "SealedSecret", **HEAD, "metadata": ["?"]}, False),
        ({}, False),
    ],
)
def test_key_files_are_found_by_namespace_and_name(tree, is_one):
    assert key_files([tree]) == ({("ml", "s"): tree} if is_one else {})


def test_the_first_key_file_of_a_name_counts():
    first, second = ({"kind": "SealedSecret", "spec": number, **HEAD} for number in (1, 2))
    assert key_files([first, second]) == {("ml", "s"): first}

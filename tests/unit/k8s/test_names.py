"""Which names Kubernetes accepts, and what is said of the others."""

import pytest

from trainform.k8s.names import (
    dns1035_label,
    dns1123_label,
    dns1123_subdomain,
    env_var_name,
    label_value,
    qualified_name,
)


@pytest.mark.parametrize(
    ("check", "name"),
    [
        (dns1035_label, "job-1"),
        (dns1035_label, "a" * 63),
        (dns1123_label, "1st"),
        (dns1123_subdomain, "torch.v2-0.example"),
        (dns1123_subdomain, "a" * 253),
        (qualified_name, "app"),
        (qualified_name, "My_Label.v1"),
        (qualified_name, "kueue.x-k8s.io/queue-name"),
        (qualified_name, "nvidia.com/gpu"),
        (label_value, ""),
        (label_value, "My_Value.v1"),
        (env_var_name, "PATH"),
        (env_var_name, "1st.name with space"),
    ],
)
def test_accepted(check, name):
    assert check(name) is None


@pytest.mark.parametrize(
    ("check", "name", "reason"),
    [
        (dns1035_label, "1st", "start with a letter"),
        (dns1035_label, "Job", "lowercase"),
        (dns1035_label, "job-", "end with a letter or digit"),
        (dns1035_label, "", "must not be empty"),
        (dns1035_label, "a" * 64, "at most 63 characters long, not 64"),
        (dns1035_label, "job\n", "lowercase"),
        (dns1123_label, "a.b", "must consist of"),
        (dns1123_label, "ä", "must consist of"),
        (dns1123_subdomain, "a..b", "parts separated by `.`"),
        (dns1123_subdomain, "a" * 254, "at most 253 characters long"),
        (qualified_name, "-app", "start and end"),
        (qualified_name, "a" * 64, "at most 63"),
        (qualified_name, "example.com/", "must not be empty"),
        (qualified_name, "Example.com/app", "before the `/`"),
        (qualified_name, "a/b/c", "before the `/`"),
        (qualified_name, "/app", "before the `/`, which must not be empty"),
        (label_value, "a b", "must consist of"),
        (label_value, "v" * 64, "at most 63"),
        (env_var_name, "", "must not be empty"),
        (env_var_name, "A=B", "other than `=`"),
        (env_var_name, "ÜBER", "printable ASCII"),
    ],
)
def test_refused_with_a_reason(check, name, reason):
    assert reason in check(name)

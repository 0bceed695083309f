"""What a reviewer sees of a job whatever is folded."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from trainform.review.diff.highlight_fields import CONTAINER_FIELDS, OBJECT_FIELDS, POD_FIELDS, TEMPLATE_FIELDS
from trainform.review.diff.html import render_html
from trainform.review.diff.markdown import LIMIT, render_markdown
from trainform.review.diff.model import Diff, JobDiff, diff_job
from trainform.review.diff.text import render_text

JOB = ("default", "ml", "llm")
POD = "spec.replicatedJobs[node].template.spec.template.spec"
DOCS = Path(__file__).parents[3] / "docs/diff.md"


def step(container=None, pod=None, name="node", init=()):
    own = {"name": name, "image": "train:1", **(container or {})}
    spec = {"containers": [own], **({"initContainers": [*init]} if init else {}), **(pod or {})}
    return {"name": name, "template": {"spec": {"template": {"spec": spec}}}}


def jobset(*steps, name="llm"):
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": name, "namespace": "ml"},
        "spec": {"replicatedJobs": [*steps] or [step()]},
    }


def changed(before, after) -> JobDiff:
    found = diff_job(JOB, before, after)
    assert found is not None
    return found


def new(*objects) -> JobDiff:
    return changed([], objects or [jobset()])


def told(job: JobDiff) -> list[tuple[str, str, object, object]]:
    """Label with entry, place, and the two values; without the image that every job has."""
    found = [(f"{h.label} {h.entry}".rstrip(), h.place, h.before, h.after) for h in job.highlights]
    return [each for each in found if each[0] != "image"]


def test_an_ordinary_job_takes_a_line_for_its_image_and_its_command():
    quiet = {"command": ["torchrun", "train.py"], "securityContext": {"privileged": False, "runAsUser": 1000}}
    pod = {"volumes": [{"name": "a", "emptyDir": {}}, {"name": "b", "configMap": {"name": "c"}}], "hostNetwork": False}
    assert render_text(Diff([new(jobset(step(quiet, pod)))]), colour=False).splitlines() == [
        "new            ml/llm",
        "  image (node)    train:1",
        '  command (node)  ["torchrun", "train.py"]',
        "",
        "1 new job",
    ]


def security(**fields):
    return {"securityContext": fields}


def volume(**source):
    return {"volumes": [{"name": "v", **source}]}


@pytest.mark.parametrize(
    ("pod", "label", "value"),
    [
        ({"hostNetwork": True}, "host network", True),
        ({"hostPID": True}, "host processes", True),
        ({"hostIPC": True}, "host IPC", True),
        (security(runAsUser=0), "run as user", 0),
        (security(runAsGroup=0), "run as group", 0),
        (security(runAsNonRoot=False), "run as non-root", False),
        (security(seccompProfile={"type": "Unconfined"}), "seccomp profile", "Unconfined"),
        (security(appArmorProfile={"type": "Unconfined"}), "AppArmor profile", "Unconfined"),
        (security(seLinuxOptions={"type": "spc_t"}), "SELinux options", {"type": "spc_t"}),
        (security(windowsOptions={"hostProcess": True}), "host process", True),
        (security(sysctls=[{"name": "a", "value": "1"}]), "sysctls", [{"name": "a", "value": "1"}]),
        (volume(hostPath={"path": "/"}), "host path v", "/"),
        ({"serviceAccountName": "admin"}, "service account", "admin"),
        ({"automountServiceAccountToken": True}, "API token", True),
        (volume(projected={"sources": [{"serviceAccountToken": {}}]}), "API token v", ["the API server"]),
        ({"tolerations": [{"operator": "Exists"}]}, "tolerates every taint", ["every effect"]),
        ({"tolerations": [{"operator": "Exists", "effect": "NoExecute"}]}, "tolerates every taint", ["NoExecute"]),
        ({"nodeName": "n1"}, "node", "n1"),
        ({"shareProcessNamespace": True}, "shared processes", True),
    ],
)
def test_privileges_of_pods(pod, label, value):
    job = new(jobset(step(pod=pod)))
    assert told(job) == [(label, "node", None, value)]
    assert job.highlights[0].privilege
    assert job.highlights[0].path.startswith(f"{POD}.")


@pytest.mark.parametrize(
    ("container", "label", "value"),
    [
        (security(privileged=True), "privileged", True),
        (security(allowPrivilegeEscalation=True), "privilege escalation", True),
        (security(capabilities={"add": ["SYS_ADMIN"]}), "added capabilities", ["SYS_ADMIN"]),
        (security(procMount="Unmasked"), "proc mount", "Unmasked"),
        (security(runAsUser=0), "run as user", 0),
        ({"ports": [{"containerPort": 80, "hostPort": 80}]}, "host port 80", 80),
    ],
)
def test_privileges_of_every_container(container, label, value):
    """An init container counts as much as the others, and so do the pods of each replicated job."""
    init = {"name": "setup", "image": "i:1", **container}
    job = new(jobset(step(init=[init]), step(container, name="launcher")))
    assert told(job) == [(label, "node/setup", None, value), (label, "launcher", None, value)]
    assert [each.privilege for each in job.highlights] == [True, True, False, False, False]


@pytest.mark.parametrize(
    ("container", "pod", "label", "value"),
    [
        ({"command": ["a"]}, {}, "command", ["a"]),
        ({"args": ["--lr=1"]}, {}, "arguments", ["--lr=1"]),
        ({"lifecycle": {"preStop": {}}}, {}, "lifecycle hooks", {"preStop": {}}),
        ({}, volume(persistentVolumeClaim={"claimName": "data"}), "volume v", "persistentVolumeClaim data"),
        ({}, volume(nfs={"server": "s", "path": "/x"}), "volume v", "nfs s /x"),
        ({}, volume(csi={"driver": "d"}), "volume v", "csi d"),
        ({}, volume(secret={"secretName": "s"}), "secret volume v", "s"),
        ({}, volume(projected={"sources": [{"secret": {"name": "s"}}]}), "secret volume v", ["s"]),
        ({"env": [{"name": "LD_PRELOAD", "value": "/data/a.so"}]}, {}, "code variable LD_PRELOAD", "/data/a.so"),
        ({"env": [{"name": "BASH_ENV", "value": "/data/rc"}]}, {}, "code variable BASH_ENV", "/data/rc"),
        ({"env": [{"name": "PIP_EXTRA_INDEX_URL", "value": "x"}]}, {}, "code variable PIP_EXTRA_INDEX_URL", "x"),
        ({"env": [{"name": "OMPI_MCA_PLM_RSH_AGENT", "value": "x"}]}, {}, "code variable OMPI_MCA_PLM_RSH_AGENT", "x"),
        (
            {"env": [{"name": "PYTHONPATH", "valueFrom": {"configMapKeyRef": {"name": "c", "key": "p"}}}]},
            {},
            "code variable PYTHONPATH",
            {"configMapKeyRef": {"name": "c", "key": "p"}},
        ),
        ({"envFrom": [{"configMapRef": {"name": "c"}}]}, {}, "variables", ["c"]),
        ({"imagePullPolicy": "Never"}, {}, "pull policy", "Never"),
        ({}, {"priorityClassName": "urgent"}, "priority class", "urgent"),
        ({}, {"schedulerName": "mine"}, "scheduler", "mine"),
        ({}, {"dnsConfig": {"nameservers": ["1.2.3.4"]}}, "DNS settings", {"nameservers": ["1.2.3.4"]}),
        ({}, {"imagePullSecrets": [{"name": "p"}]}, "pull secret", ["p"]),
        (
            {"env": [{"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "hf", "key": "token"}}}]},
            {},
            "secret variable TOKEN",
            "hf/token",
        ),
        ({"envFrom": [{"secretRef": {"name": "hf"}}]}, {}, "secret variables", ["hf"]),
    ],
)
def test_what_runs_and_what_it_reads(container, pod, label, value):
    job = new(jobset(step(container, pod)))
    assert told(job) == [(label, "node", None, value)]
    assert not any(each.privilege for each in job.highlights)


@pytest.mark.parametrize(
    ("before", "after", "privilege"),
    [
        ({}, {"privileged": True}, True),
        ({"privileged": True}, {}, False),
        ({"runAsNonRoot": True}, {}, True),
        ({"runAsNonRoot": True}, {"runAsNonRoot": False}, True),
        ({"runAsUser": 0}, {"runAsUser": 1000}, False),
        ({"allowPrivilegeEscalation": False}, {}, True),
        ({"capabilities": {"drop": ["ALL"]}}, {}, True),
        ({"readOnlyRootFilesystem": True}, {}, True),
        ({"capabilities": {"add": ["A"]}}, {"capabilities": {"add": ["A", "B"]}}, True),
    ],
)
def test_a_change_of_any_of_it_leads(before, after, privilege):
    """So does a restriction that is gone, which no new job would show."""
    job = changed([jobset(step(security(**before)))], [jobset(step(security(**after)))])
    (found,) = job.highlights
    assert found.privilege == privilege
    text, markdown, page = (render(Diff([job])) for render in (_text, render_markdown, render_html))
    assert text.splitlines()[1].startswith(f"  {found.label} (node)  ")
    assert markdown.index(found.label) < markdown.index("<details>")
    assert page.index(found.label) < page.index("<details>")


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        ({"schedulerName": "volcano"}, {}, ("scheduler", "node", "volcano", None)),
        ({"hostUsers": False}, {"hostUsers": True}, ("host users", "node", False, None)),
        ({"priorityClassName": "low"}, {"priorityClassName": "top"}, ("priority class", "node", "low", "top")),
        (
            {"imagePullSecrets": [{"name": "a"}]},
            {"imagePullSecrets": [{"name": "b"}]},
            ("pull secret", "node", ["a"], ["b"]),
        ),
    ],
)
def test_a_change_of_what_a_new_job_need_not_show(before, after, change):
    assert told(changed([jobset(step(pod=before))], [jobset(step(pod=after))])) == [change]


@pytest.mark.parametrize(
    "variables", [["EPOCHS", "NCCL_DEBUG", "OMP_NUM_THREADS", "PET_NNODES", "HOME"], ["LDFLAGS", "MY_PYTHONPATH"]]
)
def test_ordinary_variables_are_not_told(variables):
    env = [{"name": name, "value": "1"} for name in variables]
    quiet = {"schedulerName": "volcano", "hostUsers": False, "shareProcessNamespace": False}
    assert told(new(jobset(step({"env": env, "imagePullPolicy": "Always"}, quiet)))) == []


def _text(diff: Diff) -> str:
    return render_text(diff, colour=False)


def test_what_does_not_change_is_not_told_again():
    old, now = (jobset(step({**security(privileged=True), "workingDir": folder})) for folder in ("/a", "/b"))
    job = changed([old], [now])
    assert (len(job.reasons), job.highlights) == (1, ())


def test_a_renamed_job_set_compares_with_its_earlier_name():
    volumes = ({"volumes": [{"name": "v", "secret": {"secretName": f"{name}-key"}}]} for name in ("llm", "llm-x"))
    old, now = (jobset(step(pod=pod), name=name) for pod, name in zip(volumes, ("llm", "llm-x"), strict=True))
    assert changed([old], [now]).highlights == ()


def test_what_the_account_of_a_job_may_do():
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "llm-role"}}
    rule = {"apiGroups": [""], "resources": ["secrets"], "verbs": ["*"]}
    job = new(jobset(), {**role, "rules": [rule]})
    assert told(job) == [("rule 0", "llm-role", None, rule)]
    assert (job.highlights[0].object, job.highlights[0].path) == ("Role/llm-role", "rules[0]")


def test_json():
    job = changed([jobset()], [jobset(step(security(privileged=True)))])
    assert job.to_json()["highlights"] == [
        {
            "object": "JobSet/llm",
            "path": f"{POD}.containers[node].securityContext.privileged",
            "label": "privileged",
            "before": None,
            "after": True,
            "privilege": True,
        }
    ]


def test_markdown():
    """The golden form of the two kinds of entry."""
    old = jobset()
    now = jobset(step({"image": "train:2", **security(privileged=True)}, {"serviceAccountName": "admin"}))
    diff = Diff([changed([old], [now]), new(now)])
    reasons = "".join(
        f"| `{POD}.{field}` | `{before}` | `{after}` | immutable |\n"
        for field, before, after in [
            ("containers[node].image", "train:1", "train:2"),
            ("containers[node].securityContext", "(none)", '{"privileged": true}'),
            ("serviceAccountName", "(none)", "admin"),
        ]
    )
    assert render_markdown(diff) == (
        "### trainform: 1 job restarts, 1 new\n\n"
        "**🟠 Restarts** (1)\n\n"
        "- <b>ml/llm</b> in default: Kubernetes refuses this update: delete JobSet llm first, then it starts anew\n"
        "  - **service account** (node): `(none)` → `admin`\n"
        "  - **privileged** (node): `(none)` → `true`\n"
        "  - image (node): `train:1` → `train:2`\n\n"
        "<details><summary>3 changed fields</summary>\n\n"
        f"| `JobSet/llm` | before | after | |\n|---|---|---|---|\n{reasons}\n</details>\n\n"
        "**🟢 New** (1)\n\n"
        "- <b>ml/llm</b> in default\n"
        "  - **service account** (node): `admin`\n"
        "  - **privileged** (node): `true`\n"
        "  - image (node): `train:2`\n\n"
        "<sub>**immutable**: the API never changes this field of an object that exists<br>"
        "**service account**: pods may do what the account may<br>"
        "**privileged**: the container has root's rights on the node</sub>\n"
    )


def test_a_full_comment_drops_ordinary_jobs_first():
    """Nobody can push a privileged job out of the comment with others that sort before it."""
    long = [changed([jobset()], [jobset(step({"args": [str(number) * 200]}))]) for number in range(400)]
    crowd = [replace(job, id=("default", "aa", f"job-{number}")) for number, job in enumerate(long)]
    evil = replace(new(jobset(step(security(privileged=True)))), id=("default", "zz", "evil"))
    told = render_markdown(Diff([*crowd, evil]))
    assert len(told.encode()) <= LIMIT
    assert "more jobs: the comment is full" in told
    assert "zz/evil" in told
    assert "**privileged** (node): `true`" in told


def test_values_cannot_break_out():
    name = "\x1b[31m`|<b>\r\n::error::"
    job = new(jobset(step({"image": name, **security(privileged=name)}, volume(hostPath={"path": name}))))
    for render in (_text, render_markdown, render_html):
        shown = render(Diff([job]))
        assert not set(shown) & {"\x1b", "\r"}
        assert "\n::error::" not in shown


def test_every_field_is_in_the_documentation():
    fields = [
        *TEMPLATE_FIELDS,
        *POD_FIELDS,
        *CONTAINER_FIELDS,
        *(each for fields in OBJECT_FIELDS.values() for each in fields),
    ]
    rows = {row.split(" | ")[0].strip("|* "): row for row in DOCS.read_text().splitlines() if row.startswith("| ")}
    assert [each.label for each in fields if each.label not in rows or not each.why] == []

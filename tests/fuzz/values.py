"""Values and names that programs get wrong."""

from __future__ import annotations

import random
from typing import Any

SCALARS: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2**31, 2**31 - 1, -(2**31) - 1, 2**53 + 1, 2**63, -(2**63), 10**30, 10**400),
    *(0.1, 1.5, -0.0, 1e30, 1e308, 5e-324, float("inf"), float("-inf"), float("nan")),
    *("", " ", "\n", "\t", "~", "null", "on", "1e3", "0644", "22:22", "1_000", "0x1F", "<<", "=", "-", "---", "..."),
    *("\0", "a\0b", "\x1b[31mred\x1b[0m", "\x07", "\r", "a\rb", "\x7f", "\x85", "\u2028", "\u2029", "\ufeff", "\u202e"),
    *("\ud800", "\udcff", "é", "e\u0301", "😀", "ſ", "İ", "ß", "аdmin", "\u200b", "\ufffe"),
    *(
        "::error file=x::text",
        "##[error]text",
        "a\n::set-output name=x::y",
        "```",
        "<script>alert(1)</script>",
        "|",
        "&",
    ),
    *("..", "../x", "../../outside/secret", "/etc/passwd", "/proc/self/environ", "/dev/zero", ".git", ".git/hooks/x"),
    *("a/../../b", "a/b", "a\\b", "C:x", "CON", "-x", "--help", "*", "**/*", "[", "a" * 64, "a" * 254, "a" * 5_000),
    *("1e30", "1E", "9" * 40, "1Ei", "-1", "0.0000001", "1n", "NaN", "Infinity", "1" + "0" * 500 + "Ki"),
    *("{{ env.x }}", "{% for %}", "{{", "${X}", "$(X)", "%s", "%n", "{0.__class__}", "a: b", "[a", "!!python/none x"),
    *("prod", "ml", "llm", "node", "torch", "default", "kube-system", "nvidia.com/gpu", "v1", "batch/v1", "List"),
    *(
        [],
        {},
        [None],
        [[]],
        {"": ""},
        {"$patch": "delete"},
        {"$patch": "replace"},
        {"$retainKeys": []},
        [{}],
        {"a": {}},
    ),
)

NAMES = (
    *("trainform.yaml", "jobs/x.yaml", "jobs/x.yml", "jobs/x.json", "jobs/x.yaml.j2", "jobs/.x.yaml", "jobs/x"),
    *("JOBS/x.yaml", "Jobs/X.YAML", "jobs/a b.yaml", "jobs/é.yaml", "jobs/e\u0301.yaml", "jobs/\u202ex.yaml"),
    *(
        "jobs/\x1b[31m.yaml",
        "jobs/a\nb.yaml",
        "jobs/::error::x.yaml",
        "jobs/\r.yaml",
        "jobs/\udcff.yaml",
        "jobs/-x.yaml",
    ),
    *("jobs/##[error]x.yaml", "jobs/" + "d/" * 60 + "x.yaml", "jobs/" + "n" * 240 + ".yaml", "runtimes/x.yaml"),
    *("environments/x/environment.yaml", "environments/x/facts.yaml", "environments/x/keys/k.yaml"),
    *(
        "environments/\x1b/environment.yaml",
        "environments/.x/environment.yaml",
        "rendered/x",
        "rendered/kustomization.yaml",
    ),
    *("rendered/default/ml/llm/x.yaml", ".trainform/locks/default/ml/x.lock", ".trainform/locks/x", ".trainform/x"),
    *(".trainform/locks/\x1b/\n/x.lock", ".trainform/snapshots/x.yaml", ".trainform/staging/x", ".gitignore"),
    *(".gitattributes", "HEAD", "config", "jobs/kustomization.yaml", "jobs/\\x.yaml", "jobs/*.yaml"),
)

LINKS = (
    *("../outside/secret", "../../outside/secret", "../outside/jobs/other.yaml", "../../outside/folder", "../outside"),
    *(".", "..", "/", "/dev/zero", "/dev/stdin", "/proc/self/environ", "/etc/hostname", "nowhere", "trainform.yaml"),
    *("jobs", "../jobs", "../.git/config", ".git", ".git/hooks", "../runtimes", "x.yaml"),
)

SNIPPETS = (
    *(
        "\0",
        "\t",
        "\r",
        "\x85",
        "\u2028",
        "\ufeff",
        "\udcff",
        "\x1b[2J",
        "&a ",
        "*a",
        "<<: *a\n",
        "!!binary x\n",
        "? x\n",
    ),
    *(
        "---\n",
        "...\n",
        "%YAML 1.2\n---\n",
        "# \x85x: 1\n",
        "{",
        "[",
        "'",
        '"',
        ": ",
        "- ",
        "|\n",
        ">2-\n",
        "{{ 1/0 }}",
    ),
    *("{% if x %}", "{{ env['a' * 9] }}", "\n  ", "::error::x\n", "a: &a [*a]\n", "<<<<<<< HEAD\n", "kind: List\n"),
)


def scalar(chance: random.Random) -> Any:
    return chance.choice(SCALARS)

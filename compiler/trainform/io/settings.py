"""`trainform.yaml`: the folders of a repository, its plugins, and which findings its team wants to hear of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from trainform.diagnostics import Diagnostic, Path
from trainform.diagnostics.codes import CODES, is_adjustable
from trainform.diagnostics.order import SEVERITIES
from trainform.diagnostics.suggest import did_you_mean
from trainform.io.links import folded, names_git
from trainform.io.plugin_settings import PLUGINS, PluginRules, PluginsKey, plugin_problems, plugin_rules

if TYPE_CHECKING:
    from trainform.source import Document

FILE = "trainform.yaml"


class LintsOfPaths(TypedDict):
    """An entry of `lintsByPath`."""

    paths: list[str]
    """Patterns of files, from the root of the repository, at most 50; one must fit. `**` stands for any number of
    folders. Example: `[jobs/legacy/**]`."""
    lints: dict[str, str]
    """As `lints`, for those files. Example: `{TF607: info}`."""


class SettingsFile(TypedDict, total=False):
    """What `trainform.yaml` may hold. The text below each key is its reference."""

    jobs: str
    """The folder of the TrainJobs. Default: `jobs`. Example: `training/jobs`."""
    runtimes: str
    """The folder of your runtimes. Default: `runtimes`. Example: `platform/runtimes`."""
    environments: str
    """The folder of the Environments. Default: `environments`. Example: `platform/environments`."""
    rendered: str
    """The folder of the manifests. It must not be inside one of the others, nor hold them. Default: `rendered`.
    Example: `deploy/training`."""
    lints: dict[str, str]
    """The severity of findings by code: `error`, `warning`, `info` or `off`. Default: each code's own.
    Example: `{TF608: info, TF604: error}`."""
    lintsByPath: list[LintsOfPaths]
    """Severities for some files, at most 50 entries. They beat `lints`, and later entries beat earlier ones.
    Default: none. Example: `[{paths: [jobs/legacy/**], lints: {TF607: info}}]`."""
    plugins: PluginsKey
    """Which plugins of other packages are used. Default: those of all installed packages.
    Example: `{required: {acme-trainform: ">=1.2,<2"}}`."""
    repositoryPath: str
    """Where this folder lies in the git repository; `init` writes it. Paths for Argo CD and Flux start with it.
    Default: the top. Example: `ml/training`."""


class LintRule(NamedTuple):
    """The severity of findings by code, or `off`; for files that match one of `paths`, or for all (None)."""

    severities: Mapping[str, str]
    paths: tuple[str, ...] | None = None


class Settings(NamedTuple):
    """Folders relative to the root, with `/`; then rules for findings, of which the last that fits counts; then rules
    for plugins; then where the root lies in the git repository, empty for its top. Every key has a default."""

    jobs: str = "jobs"
    runtimes: str = "runtimes"
    environments: str = "environments"
    rendered: str = "rendered"
    lints: tuple[LintRule, ...] = ()
    plugins: PluginRules = PluginRules()
    repository_path: str = ""

    @property
    def rendered_in_git(self) -> str:
        """The folder of manifests from the top of the git repository, as engines name it."""
        return f"{self.repository_path}/{self.rendered}" if self.repository_path else self.rendered

    @property
    def folders(self) -> tuple[str, ...]:
        return self.jobs, self.runtimes, self.environments, self.rendered


_OURS = ".trainform"

FOLDERS = ("jobs", "runtimes", "environments", "rendered")
LINTS, BY_PATH = "lints", "lintsByPath"
REPOSITORY_PATH = "repositoryPath"
KEYS = tuple(SettingsFile.__annotations__)
MOST_RULES = 50
"""Most entries of `lintsByPath`, and most patterns in each: every finding is matched with all of them."""

_CHOICES = (*SEVERITIES, "off")


def parse_settings(data: bytes) -> tuple[Settings, list[Diagnostic]]:
    """The settings in `trainform.yaml`; if it has errors, those and the defaults."""
    from trainform.source import load

    loaded = load(data, FILE)
    problems = list(loaded.diagnostics)
    if not problems and loaded.documents:
        message = "project settings must be a single document, but this file has more than one"
        problems = [
            Diagnostic("TF703", "error", message, "merge the documents", place=each) for each in loaded.documents[1:]
        ]
        problems += _problems(loaded.documents[0])
    if problems or not loaded.documents:
        return Settings(), problems
    given = loaded.documents[0].tree
    folders = {key: _normal(given[key]) for key in FOLDERS if key in given}
    found = Settings(**folders, lints=tuple(_rules(given)), plugins=plugin_rules(loaded.documents[0]))
    return found._replace(repository_path=_normal(given.get(REPOSITORY_PATH, ""))), []


def _rules(tree: dict[str, Any]) -> Iterator[LintRule]:
    if LINTS in tree:
        yield LintRule({code: _severity(each) for code, each in tree[LINTS].items()})
    for entry in tree.get(BY_PATH, []):
        yield LintRule({code: _severity(each) for code, each in entry[LINTS].items()}, tuple(entry["paths"]))


def _severity(value: Any) -> Any:
    """YAML reads a plain `off` as false."""
    return "off" if value is False else value


def _problems(document: Document) -> list[Diagnostic]:
    problems = [problem for key, folder in document.tree.items() for problem in _entry(document, key, folder)]
    return problems or _overlaps(document, document.tree)


def _entry(document: Document, key: str, folder: Any) -> list[Diagnostic]:
    path: Path = (key,)
    if key not in KEYS:
        hint = did_you_mean(key, KEYS) or f"known keys: {', '.join(KEYS)}"
        at = document.key_position(path)
        return [Diagnostic("TF101", "error", "unknown field", hint, path, document, at)]
    if key == LINTS:
        return _lint_problems(document, folder, path)
    if key == PLUGINS:
        return plugin_problems(document)
    if key == BY_PATH:
        return _by_path_problems(document, folder)
    if not isinstance(folder, str):
        code, message = "TF102", "must be a string: a folder of this repository"
    elif not folder or folder.startswith("/") or "\\" in folder or ".." in folder.split("/"):
        code, message = "TF703", "must be a folder below the root of this repository"
    elif names_git(folder):
        code, message = "TF703", f'"{folder}" is reserved: some file systems take it for .git'
    elif not folder.isprintable():
        code, message = "TF703", "must not contain control characters"
    else:
        return []
    return [Diagnostic(code, "error", message, f'write "{key}: {_EXAMPLES.get(key, key)}"', path, document)]


_EXAMPLES = {REPOSITORY_PATH: "ml/training"}

_LINTS_EXAMPLE = "write lints: {TF608: off, TF604: error}"
_BY_PATH_EXAMPLE = "write - {paths: [jobs/legacy/**], lints: {TF607: off}}"


def _lint_problems(document: Document, tree: Any, path: Path) -> list[Diagnostic]:
    """Each code must be one that a team may set, each value a severity."""
    if not isinstance(tree, dict):
        return [Diagnostic("TF102", "error", "must map codes to severities", _LINTS_EXAMPLE, path, document)]
    problems = []
    for code, value in tree.items():
        told = _code_problem(code) or _value_problem(value)
        if told:
            at = document.key_position((*path, code))
            problems.append(Diagnostic("TF703", "error", *told, path=(*path, code), place=document, at=at))
    return problems


def _code_problem(code: str) -> tuple[str, str] | None:
    if code.startswith("TF") and code not in CODES:
        return f"there is no code {code}", did_you_mean(code, CODES) or "see `docs/codes`"
    if not is_adjustable(code):
        return f"{code} cannot be set: it reports errors, not advice", "remove it, and fix what it reports"
    return None


def _value_problem(value: Any) -> tuple[str, str] | None:
    if _severity(value) in _CHOICES:
        return None
    return "must be error, warning, info or off", did_you_mean(str(value), _CHOICES) or _LINTS_EXAMPLE


def _by_path_problems(document: Document, tree: Any) -> list[Diagnostic]:
    if not isinstance(tree, list):
        return [Diagnostic("TF102", "error", "must be a list", _BY_PATH_EXAMPLE, (BY_PATH,), document)]
    if len(tree) > MOST_RULES:
        message = f"has {len(tree)} rules, but at most {MOST_RULES} are allowed"
        return [Diagnostic("TF703", "error", message, "use patterns with **", (BY_PATH,), document)]
    return [problem for index, entry in enumerate(tree) for problem in _rule_problems(document, entry, index)]


def _rule_problems(document: Document, entry: Any, index: int) -> list[Diagnostic]:
    path: Path = (BY_PATH, index)
    if not isinstance(entry, dict) or entry.keys() != {"paths", LINTS}:
        message = "must have paths and lints, and nothing else"
        return [Diagnostic("TF703", "error", message, _BY_PATH_EXAMPLE, path, document)]
    paths = entry["paths"]
    problems = _lint_problems(document, entry[LINTS], (*path, LINTS))
    are_patterns = isinstance(paths, list) and all(isinstance(each, str) and each for each in paths)
    if not are_patterns or not 0 < len(paths) <= MOST_RULES:
        message = f"must be a list of 1 to {MOST_RULES} file patterns"
        problems.append(Diagnostic("TF703", "error", message, "write [jobs/legacy/**]", (*path, "paths"), document))
    return problems


def _normal(folder: str) -> str:
    return "/".join(part for part in folder.split("/") if part not in ("", "."))


def _overlaps(document: Document, tree: dict[str, Any]) -> list[Diagnostic]:
    """Output must not be read as input, nor overwrite our state or git's."""
    folders = {key: _normal(tree.get(key, key)) for key in FOLDERS}
    if folded(folders["rendered"].split("/")[0]) == _OURS:
        message = f'"{folders["rendered"]}" is reserved and cannot hold output'
        return [Diagnostic("TF703", "error", message, 'write "rendered: rendered"', ("rendered",), document)]
    return [
        Diagnostic("TF703", "error", f'"rendered" and "{key}" must not be inside each other',
                   "choose separate folders", path=("rendered",), place=document)
        for key in FOLDERS[:-1]
        if _within(folders["rendered"], folders[key]) or _within(folders[key], folders["rendered"])
    ]  # fmt: skip


def _within(inner: str, outer: str) -> bool:
    return f"{inner}/".startswith(f"{outer}/") or not outer

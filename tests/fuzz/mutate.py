"""Cases made from seeds: mutated repositories, and command lines for them."""

from __future__ import annotations

import json
import random
from dataclasses import replace

from fuzz.case import GIT_STATES, Case, Entry, Step
from fuzz.seeds import Seeds
from fuzz.trees import mutated, parts, read, write
from fuzz.values import LINKS, NAMES, SNIPPETS, scalar

SETTINGS = ("trainform.yaml", "jobs/", "runtimes/", "environments/", ".trainform/", "rendered/")
FORMATS = {
    "render": ("text", "json", "yaml"),
    "validate": ("text", "json", "sarif", "junit", "github"),
    "diff": ("text", "markdown", "json", "html"),
    **dict.fromkeys(("check", "explain", "capacity", "upgrade", "rerun", "keys", "runtimes"), ("text", "json")),
}
REFS = ("HEAD", "main", "HEAD~1", "nowhere", "", "-x", "../outside", ".", "environments", "\x1b", "a\nb")


def make(seeds: Seeds, number: int, seed: int) -> Case:
    """Case `number` of the sequence that `seed` starts: the same case in every run."""
    chance = random.Random(f"{seed}/{number}")
    name = "own" if chance.random() < 0.15 else chance.choice(seeds.names)
    files = dict(seeds.rendered(name) if chance.random() < 0.4 else seeds.files(name))
    git = chance.choices(GIT_STATES, (50, 15, 15, 8, 6, 6))[0]
    base = dict(files)
    for _ in range(chance.choices((0, 1, 2, 3, 6), (1, 40, 30, 20, 9))[0]):
        if git in ("dirty", "staged") and chance.random() < 0.3:
            base = dict(files)
        files = _mutated(files, seeds, chance)
    steps = tuple(_step(files, git != "none", chance) for _ in range(chance.choice((1, 1, 2, 3))))
    case = Case(files, steps, git, about=f"seed {seed}, case {number}, from {name}")
    return replace(case, base=base) if git in ("dirty", "staged") else case


def _mutated(files: dict[str, Entry], seeds: Seeds, chance: random.Random) -> dict[str, Entry]:
    if not files:
        return {"jobs/x.yaml": Entry(text="{}")}
    path = chance.choice(_weighted(files, chance))
    roll = chance.random()
    if roll < 0.70:
        return {**files, path: _of_objects(files[path], seeds, chance)}
    if roll < 0.80:
        return {**files, path: _of_text(files[path], chance)}
    return _of_files(files, path, chance)


def _weighted(files: dict[str, Entry], chance: random.Random) -> list[str]:
    """Paths of one kind of file: locks and manifests are many, and would crowd out the others."""
    kinds = [[path for path in files if path.startswith(kind)] for kind in SETTINGS]
    return chance.choice([paths for paths in kinds if paths] or [list(files)])


def _of_objects(entry: Entry, seeds: Seeds, chance: random.Random) -> Entry:
    trees = read(entry.text)
    if trees is None:
        return entry._replace(text=json.dumps({"jobs": scalar(chance)}, default=str))
    others = []
    if chance.random() < 0.3:
        other = seeds.files(chance.choice(seeds.names))
        others = parts(read(other[chance.choice(sorted(other))].text) or [])
    return entry._replace(text=write(mutated(trees, others, chance), as_json=chance.random() < 0.5))


def _of_text(entry: Entry, chance: random.Random) -> Entry:
    lines = entry.text.splitlines(keepends=True) or [""]
    at = chance.randrange(len(lines))
    roll = chance.random()
    if roll < 0.5:
        column = chance.randint(0, len(lines[at]))
        lines[at] = lines[at][:column] + chance.choice(SNIPPETS) + lines[at][column:]
    elif roll < 0.65:
        lines.insert(chance.randrange(len(lines) + 1), lines[at])
    elif roll < 0.8:
        del lines[at]
    elif roll < 0.9:
        return entry._replace(text=entry.text[: chance.randint(0, len(entry.text))])
    else:
        return entry._replace(text="", times=1)
    return entry._replace(text="".join(lines))


def _of_files(files: dict[str, Entry], path: str, chance: random.Random) -> dict[str, Entry]:
    files, entry = dict(files), files[path]
    match chance.randrange(10):
        case 0:
            del files[path]
        case 1:
            files[chance.choice(NAMES)] = entry
        case 2:
            files[chance.choice(NAMES)] = files.pop(path)
        case 3:
            files[path] = Entry("link", chance.choice(LINKS))
        case 4:
            files[chance.choice(NAMES)] = Entry("link", chance.choice((*LINKS, path)))
        case 5:
            files[path] = Entry(chance.choice(("pipe", "folder")))
        case 6:
            files[path] = entry._replace(mode=0)
        case 7:
            other = chance.choice(sorted(files))
            files[path], files[other] = files[other], entry
        case 8:
            files[path] = entry._replace(times=chance.choice((2, 50)), text=entry.text + "\n---\n")
        case _:
            _replace_folder(files, path, chance)
    return files


def _replace_folder(files: dict[str, Entry], path: str, chance: random.Random) -> None:
    """A folder becomes a link, or gets another name."""
    names = path.split("/")
    folder = "/".join(names[: chance.randrange(1, len(names))]) if len(names) > 1 else path
    inside = [each for each in files if each.startswith(f"{folder}/")]
    if chance.random() < 0.5:
        for each in inside:
            del files[each]
        files[folder] = Entry("link", chance.choice(LINKS))
        return
    name = folder.swapcase() if chance.random() < 0.5 else chance.choice(NAMES)
    for each in inside:
        files[name + each[len(folder) :]] = files.pop(each)


def _step(files: dict[str, Entry], has_git: bool, chance: random.Random) -> Step:
    command = chance.choices(
        ("render", "validate", "check", "diff", "report", "explain", "capacity", "upgrade", "rerun", "keys", "krm",
         "cmp", "runtimes", "init", "stream", "schema"),
        (25, 12, 10, 10 if has_git else 3, 4, 7, 6, 6, 5, 4, 5, 3, 3, 2, 8, 2),
    )[0]  # fmt: skip
    if command == "stream":
        form = chance.choice(((), ("--format", "json"), ("--format", "yaml")))
        return Step(("render", "-", *form), _stream(files))
    if command == "krm":
        return Step(("krm",), _resource_list(files, chance))
    if command == "cmp":
        parameters = json.dumps([{"name": "environment", "string": _environment(files, chance)}])
        if chance.random() < 0.3:
            parameters = json.dumps(mutated([json.loads(parameters)], [], chance)[0], default=str)
        variables = {"ARGOCD_APP_PARAMETERS": parameters.replace("\0", "")}
        return Step(("cmp", chance.choice(("generate", "generate", "discover", "parameters"))), "", variables)
    return Step(_clean((command, *_arguments(command, files, chance), *_options(command, files, chance))))


def _clean(arguments: tuple[str, ...]) -> tuple[str, ...]:
    """No argument can hold a NUL, nor half a surrogate pair that is no byte."""
    return tuple(each.replace("\0", "").replace("\ud800", "") for each in arguments)


def _arguments(command: str, files: dict[str, Entry], chance: random.Random) -> tuple[str, ...]:
    if command == "init":
        return (
            chance.choice((".", "new", "jobs", "../repo", "new/\n")),
            "--engine",
            chance.choice(("none", "argocd", "flux")),
        )
    if command == "schema":
        return chance.choice((("--editor",), ("--editor",), ("any",), ()))
    if command in ("explain", "rerun"):
        field = (chance.choice(("spec", "spec.replicatedJobs[0]", "[", "\x1b", "JobSet", "")),)
        return (_job(files, chance), *(field if command == "explain" and chance.random() < 0.4 else ()))
    if command == "upgrade":
        return chance.choice((("--all",), (_job(files, chance),), ("--runtime", "torch-distributed"), ()))
    if command in ("render", "keys", "validate") and chance.random() < 0.2:
        return (_job(files, chance),)
    return ()


def _options(command: str, files: dict[str, Entry], chance: random.Random) -> tuple[str, ...]:
    options: tuple[str, ...] = ()
    if command in FORMATS and chance.random() < 0.6:
        options += ("--format", chance.choice(FORMATS[command]))
    if command in ("check", "diff", "report") and chance.random() < 0.5:
        options += ("--base", chance.choice(REFS))
    if command in ("render", "upgrade") and chance.random() < 0.2:
        options += ("--keep-going",)
    if command in ("render", "check", "diff") and chance.random() < 0.2:
        options += ("--no-cache",)
    if command in ("render", "check", "validate") and chance.random() < 0.1:
        options += chance.choice((("--workers", "2"), ("--shard", "1/2"), ("--shard", "x")))
    if command == "upgrade" and chance.random() < 0.3:
        options += ("--dry-run",)
    if command not in ("init", "schema") and chance.random() < 0.1:
        options += ("--env", _environment(files, chance))
    return options


def _job(files: dict[str, Entry], chance: random.Random) -> str:
    names = [path for path in files if path.startswith("jobs/")]
    if not names or chance.random() < 0.2:
        return str(scalar(chance))
    path = chance.choice(sorted(names))
    trees = [tree for tree in read(files[path].text) or [] if isinstance(tree, dict)]
    named = [tree["metadata"] for tree in trees if isinstance(tree.get("metadata"), dict)]
    if named and chance.random() < 0.8:
        return str(chance.choice(named).get("name"))
    return path


def _environment(files: dict[str, Entry], chance: random.Random) -> str:
    names = sorted({path.split("/")[1] for path in files if path.startswith("environments/")})
    return chance.choice((*names, "default", "nowhere", "", "../x", "\x1b"))


def _stream(files: dict[str, Entry]) -> str:
    """The repository's inputs as one stream."""
    texts = [entry.text for path, entry in sorted(files.items()) if path.startswith(("jobs/", "runtimes/"))]
    environments = [path for path in sorted(files) if path.startswith("environments/")]
    return "\n---\n".join([*texts, *(files[path].text for path in environments[:2])])


def _resource_list(files: dict[str, Entry], chance: random.Random) -> str:
    items = read(_stream(files)) or []
    tree = {"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": items}
    trees = mutated([tree], parts(items), chance) if chance.random() < 0.5 else [tree]
    return write(trees, as_json=chance.random() < 0.3)

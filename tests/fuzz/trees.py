"""Mutations of the objects in a YAML or JSON file."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

import yaml

from fuzz.values import scalar

Tree = Any
Place = tuple[Any, Any]
"""A mapping or list, and a key or index in it."""

MAX_TEXT = 200_000


def read(text: str) -> list[Tree] | None:
    """The objects in a text; None if it is none that a mutation could keep valid."""
    if len(text) > MAX_TEXT:
        return None
    try:
        return list(yaml.load_all(text, Loader=yaml.CSafeLoader)) or None
    except (yaml.YAMLError, ValueError, RecursionError, TypeError, OverflowError):
        return None


def write(trees: list[Tree], *, as_json: bool) -> str:
    """The objects as text. JSON's escapes carry what YAML's writer cannot, such as half a surrogate pair."""
    if not as_json:
        try:
            return yaml.dump_all(trees, Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True)
        except (yaml.YAMLError, ValueError, UnicodeError):
            pass
    texts = [json.dumps(tree, default=str, indent=1) for tree in trees]
    return texts[0] if len(texts) == 1 else "".join(f"---\n{text}\n" for text in texts)


def mutated(trees: list[Tree], others: list[Tree], chance: random.Random) -> list[Tree]:
    """The objects with one mutation; `others` are parts of elsewhere that may be put in."""
    trees = copy.deepcopy(trees)
    places = list(_places(trees))
    if not places:
        return [scalar(chance)]
    container, key = chance.choice(places)
    _MUTATIONS[chance.choices(range(len(_MUTATIONS)), _WEIGHTS)[0]](container, key, places, others, chance)
    return trees or [scalar(chance)]


def _places(tree: Tree) -> Iterator[Place]:
    waiting = [tree]
    while waiting:
        container = waiting.pop()
        keys = list(container) if isinstance(container, dict) else range(len(container))
        for key in keys:
            yield container, key
            if isinstance(container[key], dict | list):
                waiting.append(container[key])


def parts(trees: list[Tree]) -> list[Tree]:
    """Every mapping and list in the objects."""
    return [container[key] for container, key in _places(trees) if isinstance(container[key], dict | list)]


def _set(container: Any, key: Any, places: list[Place], others: list[Tree], chance: random.Random) -> None:
    container[key] = copy.deepcopy(scalar(chance))


def _delete(container: Any, key: Any, places: list[Place], others: list[Tree], chance: random.Random) -> None:
    del container[key]


def _duplicate(container: Any, key: Any, places: list[Place], others: list[Tree], chance: random.Random) -> None:
    value = copy.deepcopy(container[key])
    if isinstance(container, list):
        container.insert(chance.randint(0, len(container)), value)
    else:
        container[f"{key}x" if chance.random() < 0.5 else str(key).upper()] = value


def _rename(container: Any, key: Any, places: list[Place], others: list[Tree], chance: random.Random) -> None:
    if isinstance(container, list):
        container[key] = {"name": container[key]}
        return
    name = scalar(chance)
    container[name if isinstance(name, str | int | float | bool | None) else "x"] = container.pop(key)


def _copy_here(container: Any, key: Any, places: list[Place], others: list[Tree], chance: random.Random) -> None:
    """Put a value of another place here."""
    other, there = chance.choice(places)
    container[key] = copy.deepcopy(other[there]) if there in other or isinstance(other, list) else None


def _graft(container: Any, key: Any, places: list[Place], others: list[Tree], chance: random.Random) -> None:
    """Put a part of another file here, or merge it in."""
    if not others:
        return
    part = copy.deepcopy(chance.choice(others))
    if isinstance(part, dict) and isinstance(container[key], dict):
        container[key].update(part)
    else:
        container[key] = part


def _change_type(container: Any, key: Any, places: list[Place], others: list[Tree], chance: random.Random) -> None:
    value = container[key]
    container[key] = chance.choice(([value], {"x": value}, str(value), json.dumps(value, default=str), [value] * 3))


def _near(container: Any, key: Any, places: list[Place], others: list[Tree], chance: random.Random) -> None:
    """A value near the one that is there."""
    value = container[key]
    if isinstance(value, bool | None) or not isinstance(value, int | str):
        container[key] = not value
    elif isinstance(value, int):
        container[key] = value + chance.choice((-1, 1, 1000, -value))
    else:
        at = chance.randint(0, len(value))
        container[key] = value[:at] + str(chance.choice(("-", ".", "/", "A", "\n", "é", "\x1b", "0"))) + value[at:]


def _many(container: Any, key: Any, places: list[Place], others: list[Tree], chance: random.Random) -> None:
    count = chance.choice((10, 100, 3_000))
    value = container[key]
    container[key] = [value] * min(count, 100) if chance.random() < 0.5 else {f"k{n}": n for n in range(count)}


def _deep(container: Any, key: Any, places: list[Place], others: list[Tree], chance: random.Random) -> None:
    value = container[key]
    for _ in range(chance.choice((5, 60, 120))):
        value = [value] if chance.random() < 0.5 else {"a": value}
    container[key] = value


_MUTATIONS = (_set, _delete, _duplicate, _rename, _copy_here, _graft, _change_type, _near, _many, _deep)
_WEIGHTS = (30, 12, 8, 8, 8, 10, 8, 10, 2, 2)

"""From a failed validation to problems in plain words, each at its own element."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args, get_origin

from trainform.api.base import KUBERNETES, Model
from trainform.api.dialects import ANY_OTHER, JOB, OLDER_VALUES, RUNTIME, Advice, advice
from trainform.api.environment import Environment
from trainform.api.environment_hints import ENVIRONMENT
from trainform.api.problem import Problem, server_written
from trainform.api.runtime import Runtime
from trainform.api.trainjob import TrainJob
from trainform.diagnostics import Path
from trainform.diagnostics.suggest import did_you_mean

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

    from trainform.k8s.schema import SchemaProblem

DIALECTS: dict[type[Model], dict[str, Advice]] = {
    TrainJob: JOB,
    Runtime: RUNTIME,
    Environment: ENVIRONMENT,
}

SERVER_WRITTEN = {
    "status": (),
    "metadata": (
        "creationTimestamp",
        "deletionGracePeriodSeconds",
        "deletionTimestamp",
        "finalizers",
        "generation",
        "managedFields",
        "ownerReferences",
        "resourceVersion",
        "selfLink",
        "uid",
    ),
}
"""What a dump of a live object holds and no repository needs."""

FAILURE_RULES: Path = ("spec", "template", "spec", "failurePolicy", "rules")
"""Rules of a runtime: JobSet's webhook names those of a JobSet, but no webhook those of a runtime."""

_DUE = {
    "bool_type": "true or false",
    "dict_type": "a mapping",
    "int_from_float": "an integer",
    "int_type": "an integer",
    "list_type": "a list",
    "model_type": "a mapping",
    "string_type": "a string",
}
_FOUND = {
    bool: "a boolean",
    dict: "a mapping",
    float: "a number with a fraction",
    int: "an integer",
    list: "a list",
}


@dataclass(frozen=True, slots=True)
class Reading:
    """What is needed to say a problem well: the model, and how a scalar was written."""

    model: type[Model]
    written: Callable[[Path], str | None]

    def problems(self, error: ValidationError) -> Iterator[Problem]:
        """Every problem behind `error`, in the order of the model's fields."""
        for detail in error.errors(include_url=False):
            yield from self._problems(detail)

    def _problems(self, detail: ErrorDetails) -> Iterator[Problem]:
        kind, path, value = detail["type"], detail["loc"], detail["input"]
        context = detail.get("ctx", {})
        if kind == KUBERNETES:
            yield from (self._of_kubernetes(path, problem) for problem in context["problems"])
        elif kind == "extra_forbidden":
            yield self._unknown(path)
        elif kind == "missing" or (kind in _DUE and value is None and isinstance(path[-1], str)):
            yield _missing(path)
        elif kind in _DUE:
            yield from self._wrong_type(path, _DUE[kind], value)
        else:
            yield Problem(path, "TF104", *_out_of_range(kind, context, value))

    def _of_kubernetes(self, root: Path, problem: SchemaProblem) -> Problem:
        path = (*root, *problem.path)
        if problem.code == "TF101" and (row := self._advice(path, problem.hint)):
            return self._replaced(path, row)
        if problem.code == "TF103":
            return _missing(path)
        hint = problem.hint
        if problem.code == "TF102" and "a string" in problem.message:
            hint = self._quoted(path) or hint
        return Problem(path, problem.code, problem.message, hint)

    def _advice(self, path: Path, hint: str) -> Advice | None:
        beside = None if hint.startswith("did you mean") else advice(ANY_OTHER, path[:-1])
        return advice(DIALECTS[self.model], path) or beside

    def _unknown(self, path: Path) -> Problem:
        if path[0] in SERVER_WRITTEN and (len(path) == 1 or path[1] in SERVER_WRITTEN[str(path[0])]):
            return server_written(path)
        if path == ("metadata", "generateName"):
            message = "is not possible here: what git holds needs a name of its own"
            return Problem(path, "TF108", message, "write metadata.name")
        if row := advice(DIALECTS[self.model], path):
            return self._replaced(path, row)
        return Problem(path, "TF101", "unknown field", _nearby(str(path[-1]), _fields(self.model, path[:-1])))

    def _replaced(self, path: Path, row: Advice) -> Problem:
        why = "is a field of an older dialect" if row.older else "is no field here"
        # No API server ever sees an Environment.
        fate = "" if self.model is Environment else ": the API server would drop it"
        return Problem(path, "TF106", why + fate, row.hint)

    def _wrong_type(self, path: Path, due: str, value: Any) -> Iterator[Problem]:
        if isinstance(value, str) and (row := advice(OLDER_VALUES, path)):
            yield Problem(path, "TF106", f"must be {due}: a string is of an older dialect", row.hint)
            return
        yield Problem(path, "TF102", f"must be {due}, not {_noun(value)}", self._rewritten(path, due, value))
        if isinstance(value, dict):
            # The API server drops the fields of the mapping as well: each is said where it stands.
            yield from (_stray(path, key, due, value[key]) for key in value)

    def _rewritten(self, path: Path, due: str, value: Any) -> str:
        """How to write `value` so that its type fits, or the empty string."""
        if due == "a string" and isinstance(value, (bool, int, float)):
            return self._quoted(path) or "put quotes around it"
        if due == "an integer" and isinstance(value, str) and value.lstrip("-").isdigit():
            return f"write {value} without quotes"
        if due == "true or false" and isinstance(value, str) and value.lower() in ("true", "false"):
            return f"write {value.lower()} without quotes"
        if due == "a list":
            words = json.dumps(value.split()) if isinstance(value, str) else ""
            return f"write {words}" if words else "write a list: each entry starts with `- `"
        return ""

    def _quoted(self, path: Path) -> str:
        text = self.written(path)
        return f'write "{text}"' if text else ""


def _missing(path: Path) -> Problem:
    message = "is required but missing"
    if path[:-2] == FAILURE_RULES and path[-1] == "name":
        name = f"failurePolicyRule{path[-2]}"
        return Problem(path, "TF103", message, f"write name: {name}, as JobSet calls it", fill=name)
    return Problem(path, "TF103", message, leave_out=(path[:-1],))


def _stray(path: Path, key: Any, due: str, value: Any) -> Problem:
    hint = f"write - {{name: {key}, value: {json.dumps(str(value))}}}" if path[-1] == "env" else ""
    return Problem((*path, str(key)), "TF101", f"unknown field: {due} is due here, which has no fields", hint)


def _noun(value: Any) -> str:
    if isinstance(value, str):
        return f'the string "{value}"'
    return _FOUND.get(type(value), "null")


def _nearby(word: str, known: list[str]) -> str:
    """The nearest of the known names, or all of them when none is near and they are few."""
    return did_you_mean(word, known) or f"known here: {', '.join(sorted(known))}" * (0 < len(known) <= 8)


def _out_of_range(kind: str, context: dict[str, Any], value: Any) -> tuple[str, str]:
    match kind:
        case "greater_than_equal":
            return f"must be at least {context['ge']}, not {value}", ""
        case "less_than_equal":
            return f"must be at most {context['le']}, not {value}", ""
        case "string_too_short":
            return "must not be empty", ""
        case "string_too_long":
            return f"must have at most {context['max_length']} characters, not {len(value)}", ""
        case "too_long":
            return f"must have at most {context['max_length']} entries, not {context['actual_length']}", ""
        case "too_short":
            return f"must have at least {context['min_length']} entry", ""
        case "literal_error":
            return f"must not be {json.dumps(value)}", f"allowed: {context['expected']}"
    return f"has an invalid value: {kind.replace('_', ' ')}", ""


def _fields(model: type[Model], path: Path) -> list[str]:
    """The fields that `model` knows at `path`, by their names in the API."""
    here, keyed = model, False
    for part in path:
        if isinstance(part, str) and not keyed:
            below = next(field for field in here.model_fields.values() if field.alias == part).annotation
            here, keyed = next(_models(below)), _is_mapping(below)
        elif isinstance(part, str):
            keyed = False  # the key of an entry, such as a step
    return [field.alias or name for name, field in here.model_fields.items()]


def _is_mapping(annotation: Any) -> bool:
    return get_origin(annotation) is dict or any(map(_is_mapping, get_args(annotation)))


def _models(annotation: Any) -> Iterator[type[Model]]:
    if isinstance(annotation, type) and issubclass(annotation, Model):
        yield annotation
    for inner in get_args(annotation):
        yield from _models(inner)

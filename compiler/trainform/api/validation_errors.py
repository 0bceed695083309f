"""Turns pydantic's validation errors into problems of single elements."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, get_args, get_origin

from trainform.api import hints
from trainform.api.advice import Advice, advice
from trainform.api.advice.environment import ENVIRONMENT
from trainform.api.advice.generator import GENERATOR
from trainform.api.advice.job import ANY_OTHER, JOB, OLDER_VALUES
from trainform.api.advice.runtime import RUNTIME
from trainform.api.base import KUBERNETES, Model
from trainform.api.environment import Environment
from trainform.api.generator import ConfigMapGenerator
from trainform.api.problems import SERVER_WRITTEN, Problem, server_written
from trainform.api.runtime import Runtime
from trainform.api.trainjob import TrainJob
from trainform.diagnostics import Path
from trainform.k8s.schema.hints import QUOTES, rewritten
from trainform.k8s.schema.messages import MOST_UNKNOWN, known_here, more_unknown, noun, out_of_limit

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

    from trainform.k8s.schema.validate import SchemaProblem

DIALECTS: dict[type[Model], dict[str, Advice]] = {
    TrainJob: JOB,
    Runtime: RUNTIME,
    Environment: ENVIRONMENT,
    ConfigMapGenerator: GENERATOR,
}

FAILURE_RULES: Path = ("spec", "template", "spec", "failurePolicy", "rules")
"""JobSet's webhook names the rules of a JobSet; no webhook names those of a runtime."""

REPLICATED_JOBS: Path = ("spec", "template", "spec", "replicatedJobs")

STAND_INS: dict[Path, Any] = {
    ("metadata",): {"name": "unnamed"},
    ("metadata", "name"): "unnamed",
    ("spec",): {},
    ("spec", "runtimeRef"): {"name": "unnamed"},
    ("spec", "runtimeRef", "name"): "unnamed",
}
"""Placeholders for elements that a model requires; no rule objects to them."""

UPPER: tuple[Path, ...] = ((), ("metadata",), ("spec",), ("spec", "trainer"))
"""Mappings whose fields a wrong indentation may move."""

_STRING_MAPS = ("annotations", "labels", "matchLabels")
_DUE = {
    "bool_type": "true or false",
    "dict_type": "a mapping",
    "int_from_float": "an integer",
    "int_type": "an integer",
    "list_type": "a list",
    "model_type": "a mapping",
    "string_type": "a string",
}


_LIMITS = {
    "greater_than_equal": ("minimum", "ge"),
    "less_than_equal": ("maximum", "le"),
    "string_too_short": ("minLength", "min_length"),
    "string_too_long": ("maxLength", "max_length"),
    "too_long": ("maxItems", "max_length"),
    "too_short": ("minItems", "min_length"),
}
"""JSON Schema keyword and context key of the limit, by pydantic's error type."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Explains errors: the model, and how each scalar was written in the source."""

    model: type[Model]
    written: Callable[[Path], str | None]

    def problems(self, error: ValidationError) -> Iterator[Problem]:
        """Every problem behind `error`, in the order of the model's fields. Many unknown fields of one mapping are
        counted."""
        unknown: Counter[Path] = Counter()
        for detail in error.errors(include_url=False):
            if detail["type"] == "extra_forbidden":
                unknown[detail["loc"][:-1]] += 1
                if unknown[detail["loc"][:-1]] > MOST_UNKNOWN:
                    continue
            yield from self._problems(detail)
        for path, count in unknown.items():
            if count > MOST_UNKNOWN:
                yield self._of_kubernetes((), more_unknown(path, count - MOST_UNKNOWN))

    def _problems(self, detail: ErrorDetails) -> Iterator[Problem]:
        kind, path, value = detail["type"], detail["loc"], detail["input"]
        context = detail.get("ctx", {})
        if kind == KUBERNETES:
            yield from (self._of_kubernetes(path, problem) for problem in context["problems"])
        elif kind == "extra_forbidden":
            yield self._unknown(path)
        elif kind == "missing" or (kind in _DUE and value is None and _is_field(path)):
            yield _missing(path, hints.absent(path, value, _fields(self.model, path[:-1])))
        elif kind in _DUE:
            yield from self._wrong_type(path, _DUE[kind], value)
        else:
            yield Problem(path, "TF104", *_out_of_limit(kind, context, value))

    def _of_kubernetes(self, root: Path, problem: SchemaProblem) -> Problem:
        path = (*root, *problem.path)
        if problem.code == "TF101" and (row := self._advice(path, problem.hint)):
            return self._replaced(path, row)
        if problem.code == "TF103":
            found = _missing(path, problem.hint)
        else:
            hint = self._quoted(path) if problem.hint == QUOTES else ""
            twin = _name_of_its_own(path) if problem.code == "TF105" and path[:-1] == REPLICATED_JOBS else None
            found = Problem(path, problem.code, problem.message, hint or problem.hint, stand_in=twin)
        # Dropping only the faulty source would leave a variable without one: a second error for one mistake.
        return found._replace(leave_out=(path[: path.index("valueFrom")],)) if "valueFrom" in path else found

    def _advice(self, path: Path, hint: str) -> Advice | None:
        beside = None if hint.startswith("did you mean") else advice(ANY_OTHER, path[:-1])
        return advice(DIALECTS[self.model], path) or beside

    def _unknown(self, path: Path) -> Problem:
        if path[0] in SERVER_WRITTEN and (len(path) == 1 or path[1] in SERVER_WRITTEN[str(path[0])]):
            return server_written(path)
        if path == ("metadata", "generateName"):
            message = "is not supported: objects in git need a fixed name"
            return Problem(path, "TF108", message, "write metadata.name")
        if row := advice(DIALECTS[self.model], path):
            return self._replaced(path, row)
        levels = [(upper, _fields(self.model, upper)) for upper in UPPER if _has(self.model, upper)]
        hint = hints.elsewhere(path, levels) or known_here(str(path[-1]), _fields(self.model, path[:-1]))
        return Problem(path, "TF101", "unknown field", hint)

    def _replaced(self, path: Path, row: Advice) -> Problem:
        why = "field of an older API" if row.older else "unknown field"
        # The API server never sees kinds of ours.
        fate = "" if self.model in (Environment, ConfigMapGenerator) else ": the API server drops it silently"
        return Problem(path, "TF106", why + fate, row.hint)

    def _wrong_type(self, path: Path, due: str, value: Any) -> Iterator[Problem]:
        if isinstance(value, str) and (row := advice(OLDER_VALUES, path)):
            yield Problem(path, "TF106", f"must be {due}: only an older API allowed strings", row.hint)
            return
        yield Problem(path, "TF102", f"must be {due}, not {noun(value)}", self._rewritten(path, due, value))
        if isinstance(value, dict):
            # The API server drops the mapping's fields too: report each.
            message = f"unknown field: expected {due}, which has no fields"
            for key in islice(value, MOST_UNKNOWN):
                yield Problem((*path, str(key)), "TF101", message, hints.stray(path, key, value[key]))

    def _rewritten(self, path: Path, due: str, value: Any) -> str:
        """How to write `value` with the right type, or empty."""
        hint = rewritten(path, due, value)
        return (self._quoted(path) or hint) if hint == QUOTES else hint

    def _quoted(self, path: Path) -> str:
        text = self.written(path)
        return f'write "{text}"' if text else ""


def _out_of_limit(kind: str, context: dict[str, Any], value: Any) -> tuple[str, str]:
    """Message and hint for a value that breaks a limit; `kind` is pydantic's error type."""
    if kind == "literal_error":
        return out_of_limit("enum", re.findall("'([^']*)'", context["expected"]), value)
    if kind not in _LIMITS:
        return f"has an invalid value: {kind.replace('_', ' ')}", ""
    keyword, limit = _LIMITS[kind]
    return out_of_limit(keyword, context[limit], value)


def _is_field(path: Path) -> bool:
    """Whether a null at `path` is an absent field, not an empty entry of a mapping or list."""
    return isinstance(path[-1], str) and path[-2:-1] not in [(name,) for name in _STRING_MAPS]


def _missing(path: Path, hint: str) -> Problem:
    message = "is required but missing"
    if path[:-2] == FAILURE_RULES and path[-1] == "name":
        name = f"failurePolicyRule{path[-2]}"
        return Problem(path, "TF103", message, f"write name: {name}, the name that JobSet would assign", fill=name)
    return Problem(path, "TF103", message, hint, leave_out=(path[:-1],), stand_in=_stand_in(path))


def _stand_in(path: Path) -> tuple[Path, Any] | None:
    """A placeholder for the missing element at `path`, so that the rules can check the rest."""
    if path[:-2] == REPLICATED_JOBS and path[-1] == "name":
        return _name_of_its_own(path[:-1])
    return (path, STAND_INS[path]) if path in STAND_INS else None


def _name_of_its_own(replicated_job: Path) -> tuple[Path, str]:
    return (*replicated_job, "name"), f"unnamed-{replicated_job[-1]}"


def _has(model: type[Model], path: Path) -> bool:
    """Whether `model` has a mapping at `path`."""
    return not path or (path[-1] in _fields(model, path[:-1]) if _has(model, path[:-1]) else False)


def _fields(model: type[Model], path: Path) -> list[str]:
    """The API names of the fields that `model` knows at `path`."""
    here, keyed = model, False
    for part in path:
        if isinstance(part, str) and not keyed:
            below = next(field for field in here.model_fields.values() if field.alias == part).annotation
            here, keyed = next(_models(below)), _is_mapping(below)
        elif isinstance(part, str):
            keyed = False  # key of an entry, such as a step
    return [field.alias or name for name, field in here.model_fields.items()]


def _is_mapping(annotation: Any) -> bool:
    return get_origin(annotation) is dict or any(map(_is_mapping, get_args(annotation)))


def _models(annotation: Any) -> Iterator[type[Model]]:
    if isinstance(annotation, type) and issubclass(annotation, Model):
        yield annotation
    for inner in get_args(annotation):
        yield from _models(inner)

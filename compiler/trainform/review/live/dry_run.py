"""What a cluster would do with rendered objects: the document LiveDiffResult, and its text."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from trainform.diagnostics.console import Style, styled
from trainform.diagnostics.escape import one_line
from trainform.diagnostics.order import counted
from trainform.k8s.tree import Tree, copied, metadata_of, table, tables, text
from trainform.review.diff.markdown import code, escaped
from trainform.review.live.drift import is_in_a_queue

KIND = "LiveDiffResult"
Effect = Literal["create", "change", "none", "refused", "skipped"]
_TITLES: dict[Effect, str] = {
    "create": "to create",
    "change": "to change",
    "none": "unchanged",
    "refused": "refused",
    "skipped": "skipped",
}
_STYLES: dict[Effect, Style] = {
    "create": {"fg": "green"},
    "change": {"fg": "yellow"},
    "refused": {"fg": "red", "bold": True},
    "skipped": {"dim": True},
}
_OF_THE_SERVER = ("creationTimestamp", "deletionTimestamp", "generation", "managedFields", "resourceVersion", "uid")
_MOST_FIELDS = 20
_LONGEST_VALUE = 80


class LiveChange(NamedTuple):
    """A field of a live object, as it is and as it would be; None where there is none."""

    field: str
    before: Any
    after: Any


class DryRunObject(NamedTuple):
    """One rendered object. `message` says why it is refused, in the API server's or a webhook's words, or skipped."""

    file: str
    kind: str
    namespace: str
    name: str
    effect: Effect
    message: str = ""
    fields: tuple[LiveChange, ...] = ()

    @property
    def shown(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"

    def to_json(self) -> Tree:
        return {**self._asdict(), "fields": [each._asdict() for each in self.fields]}


class LiveDiff(NamedTuple):
    """All objects of an environment, in the order of their files."""

    environment: str
    objects: Sequence[DryRunObject]
    context: str = ""
    server: str = ""

    def has(self, *effects: Effect) -> bool:
        return any(each.effect in effects for each in self.objects)

    def to_fields(self) -> Mapping[str, Any]:
        """The document's fields, without its head."""
        head = {"environment": self.environment, "context": self.context, "server": self.server}
        return {**head, "objects": [each.to_json() for each in self.objects]}


def as_engines_apply(git: Tree, live: Tree) -> Tree:
    """Git's object with the fields that Kueue has written into a live JobSet in a queue: engines leave them alone, and
    JobSet refuses to change them."""
    if not is_in_a_queue(git):
        return git
    found: Tree = copied(git)
    _keep(table(found, "spec"), table(live, "spec"), ("suspend",))
    theirs = {text(each, "name"): each for each in tables(table(live, "spec"), "replicatedJobs")}
    for job in tables(table(found, "spec"), "replicatedJobs"):
        ours, other = _pod_template(job), _pod_template(theirs.get(text(job, "name"), {}))
        _keep(table(ours, "metadata"), table(other, "metadata"), ("labels", "annotations"))
        _keep(table(ours, "spec"), table(other, "spec"), ("nodeSelector", "tolerations", "schedulingGates"))
    return found


def _pod_template(job: Tree) -> Tree:
    return table(table(table(job, "template"), "spec"), "template")


def _keep(ours: Tree, theirs: Tree, keys: Sequence[str]) -> None:
    """Give the fields that we have the cluster's values."""
    for key in keys:
        if key in ours and key in theirs:
            ours[key] = theirs[key]
        elif key in ours and theirs:
            del ours[key]


def changes(before: Tree, after: Tree) -> tuple[LiveChange, ...]:
    """What differs between a live object and what would be stored, without what the server keeps for itself."""
    return tuple(_changes(_content(before), _content(after), ""))


def _content(tree: Tree) -> Tree:
    metadata = {key: value for key, value in metadata_of(tree).items() if key not in _OF_THE_SERVER}
    return {**{key: value for key, value in tree.items() if key != "status"}, "metadata": metadata}


def _changes(before: Any, after: Any, at: str) -> Iterator[LiveChange]:
    if before == after:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted(before.keys() | after.keys()):
            yield from _changes(before.get(key), after.get(key), f"{at}.{key}" if at else key)
    elif isinstance(before, list) and isinstance(after, list) and _names(before) == _names(after):
        for name, ours, theirs in zip(_names(before), before, after, strict=True):
            yield from _changes(ours, theirs, f"{at}[{name}]")
    else:
        yield LiveChange(at, before, after)


def _names(values: list[Any]) -> list[str]:
    """The names of entries, their places where they have none."""
    return [str(each.get("name", place)) if isinstance(each, dict) else str(place) for place, each in enumerate(values)]


def render_live_diff(found: LiveDiff, *, colour: bool, verbose: bool = False, full: bool = False) -> str:
    """A line for each object that is not as in git; `verbose`: for each object. `full` keeps long values."""
    lines = []
    for each in found.objects:
        if each.effect != "none" or verbose:
            word = styled(f"{_word(each.effect):<10}", _STYLES.get(each.effect, {}), colour=colour)
            what = f": {one_line(each.shown)}" if each.name else ""
            lines.append(f"{word} {one_line(each.file)}{what}")
            lines += [f"  {line}" for line in _details(each, full)]
    return "\n".join([*lines, *([""] if lines else []), summary(found)]) + "\n"


def render_live_diff_markdown(found: LiveDiff) -> str:
    """The same for a comment or a job summary."""
    lines = [f"**{escaped(summary(found))}**"]
    for each in found.objects:
        if each.effect != "none":
            lines += ["", f"{_word(each.effect)} {code(one_line(each.file))}", ""]
            lines += [f"    {line}" for line in _details(each, full=False)]
    return "\n".join(lines).rstrip("\n") + "\n"


def summary(found: LiveDiff) -> str:
    """`3 objects in prod: 1 to create, 2 unchanged`."""
    counts = Counter(each.effect for each in found.objects)
    told = ", ".join(f"{counts[effect]} {title}" for effect, title in _TITLES.items() if counts[effect])
    head = f"{counted(len(found.objects), 'object')} in {one_line(found.environment)}"
    return f"{head}: {told or 'nothing is rendered, so run `trainform render` first'}"


def _word(effect: Effect) -> str:
    return "no change" if effect == "none" else effect


def _details(found: DryRunObject, full: bool) -> Iterator[str]:
    if found.message:
        yield one_line(found.message)
    shown = found.fields if full else found.fields[:_MOST_FIELDS]
    for each in shown:
        yield f"{one_line(each.field)}: {_value(each.before, full)} → {_value(each.after, full)}"
    if len(shown) < len(found.fields):
        yield f"and {counted(len(found.fields) - len(shown), 'more field')}"


def _value(value: Any, full: bool) -> str:
    if value is None:
        return "nothing"
    told = one_line(json.dumps(value, ensure_ascii=False))
    return told if full or len(told) <= _LONGEST_VALUE else f"{told[:_LONGEST_VALUE]}…"

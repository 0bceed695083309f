"""What a team says about findings: settings of `trainform.yaml`, comments in the sources, and the baseline.

Applied to every compile, so that all commands tell the same. What trainform itself calls an error always stays one.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from trainform.diagnostics import Diagnostic, Position, dotted
from trainform.diagnostics.codes import CODES, is_adjustable
from trainform.diagnostics.diagnostic import Spot
from trainform.diagnostics.order import has_errors
from trainform.diagnostics.silence import Suppressed
from trainform.diagnostics.suggest import did_you_mean
from trainform.io.place import file_error
from trainform.source import Document

if TYPE_CHECKING:
    from trainform.core.compile import Compilation, CompiledJob
    from trainform.io.settings import LintRule
    from trainform.source.comments import Comment

Kind = tuple[str, str, str]
"""Code, file and object (`TrainJob/llm`) of findings in a baseline."""

Finding = tuple[Kind, str]
"""One finding of a kind: its field and message."""

_IGNORE = r"ignore\b[ \t]*(.*?)(?:[ \t]*--[ \t]*(.*))?$"


class Silence(NamedTuple):
    """A comment `# trainform: ignore TF605 -- reason` and the line that it speaks of."""

    file: str
    line: int
    codes: tuple[str, ...]
    reason: str
    at: Position
    text: str = ""


class Lints(NamedTuple):
    """The settings, in order of precedence, and how many findings of each kind are `known`; all, for a new baseline."""

    rules: tuple[LintRule, ...] = ()
    known: Mapping[Kind, int] = {}
    all_known: bool = False

    def knows(self, kind: Kind, count: int) -> bool:
        """Whether there are no more findings of this kind than are known: of more, nobody can say which one is new."""
        return self.all_known or count <= self.known.get(kind, 0)

    def severity(self, diagnostic: Diagnostic) -> str:
        """The severity to tell a finding with, or `off`. Later rules beat earlier ones."""
        told: str = diagnostic.severity
        for rule in self.rules:
            if diagnostic.code in rule.severities and _applies(rule, diagnostic.file):
                told = rule.severities[diagnostic.code]
        return told


def _applies(rule: LintRule, file: str) -> bool:
    from trainform.api.selectors import matches_path

    return rule.paths is None or matches_path(rule.paths, file)


@dataclass(slots=True)
class Judgement:
    """What became of findings. `silences` are all comments, `used` are those that silenced something; `findings` are
    those that a baseline counts, if there is one or a new one is asked for."""

    suppressed: list[Suppressed] = field(default_factory=list)
    silences: set[Silence] = field(default_factory=set)
    used: set[Silence] = field(default_factory=set)
    findings: set[Finding] = field(default_factory=set)

    def add(self, other: Judgement) -> None:
        self.suppressed += other.suppressed
        self.silences |= other.silences
        self.used |= other.used
        self.findings |= other.findings

    def mapped(self, portable: Callable[[list[Diagnostic]], list[Diagnostic]]) -> Judgement:
        """With diagnostics that can be sent to another process."""
        told = portable([each.diagnostic for each in self.suppressed])
        suppressed = [each._replace(diagnostic=one) for each, one in zip(self.suppressed, told, strict=True)]
        return replace(self, suppressed=suppressed)


def judge(compilation: Compilation, documents: Iterable[Document], lints: Lints, judged: Judgement) -> Compilation:
    """The compilation as the team wants it told; a job with a finding raised to an error has no objects."""
    silences = silences_of(documents)
    judged.silences |= flat(silences)
    return Judge(lints, silences, judged).compilation(compilation)


Silences = dict[tuple[str, int], list[Silence]]
"""The comments of each file and line that has any."""


def judge_problems(problems: Sequence[Diagnostic], lints: Lints, judged: Judgement) -> list[Diagnostic]:
    """Problems that belong to no compile, as the team wants them told. Of the comments in their documents, only those
    count that speak of them: whether others silence something is not known here."""
    documents = dict.fromkeys(each.place for each in problems if isinstance(each.place, Document))
    codes = {each.code for each in problems}
    silences = {
        line: [each for each in group if codes.intersection(each.codes)]
        for line, group in silences_of(documents).items()
    }
    judged.silences |= flat(silences)
    return Judge(lints, silences, judged).told(problems)


class Judge:
    """Applies what a team says to findings, and notes in `judged` what became of them. A baseline counts findings, so
    that all that it may count must be judged in one call."""

    def __init__(self, lints: Lints, silences: Silences, judged: Judgement) -> None:
        self.lints = lints
        self.silences = silences
        self.judged = judged

    def compilation(self, told: Compilation) -> Compilation:
        tell = self._teller(_all(told))
        return told._replace(jobs=_as_told(told.jobs, tell), diagnostics=tell(told.diagnostics))

    def jobs(self, jobs: Sequence[CompiledJob]) -> list[CompiledJob]:
        """As `compilation`, for some of a stream's jobs."""
        return _as_told(jobs, self._teller(each for job in jobs for each in job.diagnostics))

    def _teller(self, diagnostics: Iterable[Diagnostic]) -> _Tell:
        if self.lints == Lints() and not self.silences:
            return list
        loud, old = self._sorted_out(diagnostics)
        return lambda found: list(self._told((each for each in found if each in loud), old))

    def told(self, problems: Iterable[Diagnostic]) -> list[Diagnostic]:
        loud, old = self._sorted_out(problems)
        return list(self._told(loud, old))

    def _sorted_out(self, problems: Iterable[Diagnostic]) -> tuple[dict[Diagnostic, None], set[Kind]]:
        """The problems, each once, that are not off or silenced; and the kinds that the baseline knows."""
        loud = dict.fromkeys(each for each in dict.fromkeys(problems) if self._is_loud(each))
        return loud, self._old(loud)

    def _old(self, loud: Iterable[Diagnostic]) -> set[Kind]:
        """The kinds of findings of which none is new."""
        if not (self.lints.known or self.lints.all_known):
            return set()
        findings = {_finding(each) for each in loud if each.severity != "error"}
        self.judged.findings |= findings
        return {kind for kind, count in Counter(kind for kind, _ in findings).items() if self.lints.knows(kind, count)}

    def _is_loud(self, diagnostic: Diagnostic) -> bool:
        """Whether a finding is neither off nor silenced by a comment."""
        if diagnostic.severity == "error":
            return True
        if self.lints.severity(diagnostic) == "off":
            return False
        silence = self._silence(diagnostic) if self.silences else None
        if silence is None:
            return True
        self.judged.used.add(silence)
        self.judged.suppressed.append(Suppressed(diagnostic, "inSource", silence.reason))
        return False

    def _silence(self, diagnostic: Diagnostic) -> Silence | None:
        at = diagnostic.position
        group = self.silences.get((diagnostic.file, at.line), []) if at else []
        return next((each for each in group if diagnostic.code in each.codes), None)

    def _told(self, diagnostics: Iterable[Diagnostic], old: set[Kind]) -> Iterator[Diagnostic]:
        from trainform.io.paths import BASELINE

        for each in diagnostics:
            if each.severity == "error":
                yield each
            elif old and _finding(each)[0] in old:
                self.judged.suppressed.append(Suppressed(each, "external", f"known: {BASELINE}"))
            else:
                yield each._replace(severity=self.lints.severity(each))  # type: ignore[arg-type]  # not off: it is loud


def _all(compilation: Compilation) -> Iterator[Diagnostic]:
    yield from compilation.diagnostics
    for job in compilation.jobs:
        yield from job.diagnostics


_Tell = Callable[[Iterable[Diagnostic]], list[Diagnostic]]


def _as_told(jobs: Iterable[CompiledJob], tell: _Tell) -> list[CompiledJob]:
    told = ((job, tell(job.diagnostics)) for job in jobs)
    return [job._replace(diagnostics=found, objects=[] if has_errors(found) else job.objects) for job, found in told]


def flat(silences: Silences) -> set[Silence]:
    return {each for group in silences.values() for each in group}


def silences_of(documents: Iterable[Document]) -> Silences:
    speaking = {id(document.part): document.part for document in documents if "trainform:" in document.part.text}
    found: Silences = {}
    if not speaking:
        return found
    from trainform.source.comments import comments

    for part in speaking.values():
        for comment in comments(part):
            if silence := _read(part.source.file, comment, part.source.line(comment.at.line)):
                found.setdefault((silence.file, silence.line), []).append(silence)
    return found


def _read(file: str, comment: Comment, text: str) -> Silence | None:
    if not (match := re.match(_IGNORE, comment.text)):
        return None
    codes = tuple(match[1].replace(",", " ").split())
    return Silence(file, comment.line, codes, (match[2] or "").strip(), comment.at, text)


def remarks(judged: Judgement, *, complete: bool) -> list[Diagnostic]:
    """What is wrong with the comments themselves. Only a `complete` run knows which of them silence nothing."""
    told = []
    for each in sorted(judged.silences):
        place = Spot(each.file, each.at, each.text)
        if complete and each not in judged.used:
            why, hint = _idle(each.codes)
            told.append(Diagnostic("TF640", "info", f"this comment silences nothing: {why}", hint, place=place))
        if not each.reason:
            hint = "say why behind two dashes: # trainform: ignore TF605 -- the script sets its own ranks"
            told.append(Diagnostic("TF639", "info", "this comment gives no reason", hint, place=place))
    return told


def _idle(codes: tuple[str, ...]) -> tuple[str, str]:
    """Why a comment silences nothing, and what to do."""
    unknown = [code for code in codes if code.startswith("TF") and code not in CODES]
    if unknown:
        return f"there is no code {unknown[0]}", did_you_mean(unknown[0], CODES)
    if errors := [code for code in codes if not is_adjustable(code)]:
        return (
            f"{errors[0]} is an error, which cannot be silenced",
            "fix what it reports",
        )
    if not codes:
        return "it names no code", "name one: # trainform: ignore TF605 -- why"
    return f"this line has no {' or '.join(codes)}", "remove the comment"


def _finding(diagnostic: Diagnostic) -> Finding:
    kind = (diagnostic.code, diagnostic.file, _subject(diagnostic))
    return kind, f"{dotted(diagnostic.path)}: {diagnostic.message}"


def _subject(diagnostic: Diagnostic) -> str:
    """Kind and name of the object as the user wrote it."""
    tree = diagnostic.place.tree if isinstance(diagnostic.place, Document) else {}
    metadata = tree.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else ""
    return f"{tree.get('kind')}/{name}" if tree else ""


def baseline_bytes(findings: Iterable[Finding]) -> bytes:
    """The file that makes these findings known: no line numbers, so that it survives edits."""
    counts = Counter(kind for kind, _ in findings)
    known = [
        {"code": code, "file": file, "object": subject, "count": count}
        for (code, file, subject), count in sorted(counts.items())
    ]
    lines = ",\n".join(f"  {json.dumps(each, sort_keys=False)}" for each in known)
    return f'{{"version": 1, "known": [\n{lines}\n]}}\n'.encode()


def read_baseline(data: bytes | None) -> tuple[dict[Kind, int], list[Diagnostic]]:
    """The known findings, or why the file cannot be used."""
    if data is None:
        return {}, []
    from trainform.io.paths import BASELINE

    try:
        tree = json.loads(data)
        known = {(_text(each["code"]), _text(each["file"]), _text(each["object"])): _count(each["count"])
                 for each in tree["known"]}  # fmt: skip
    except (ValueError, KeyError, TypeError, RecursionError):
        hint = "write it anew: `trainform validate --write-baseline`, or restore it with git"
        return {}, [file_error("TF733", BASELINE, "is not a baseline that trainform wrote", hint)]
    return known, []


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _count(value: object) -> int:
    if type(value) is not int or value < 0:
        raise TypeError
    return value

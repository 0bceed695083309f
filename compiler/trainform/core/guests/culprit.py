"""Find the third-party plugin behind what went wrong, by compiling the job again without each of its extension points.
Only a job that fails pays for this."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainform.core.plugin import PluginFailure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from trainform.core.pipeline import Pipeline
    from trainform.diagnostics import Diagnostic

    Attempt = Callable[[Pipeline], Iterable[Diagnostic]]
    """Compiles the job with another pipeline, and returns what is reported."""


def failure_of(error: Exception, pipeline: Pipeline, attempt: Attempt) -> PluginFailure:
    """The failure behind what a job's stages raised. If it is not a third-party plugin's own, one without which the
    `attempt` succeeds has broken the plan for others. Raises the error itself if no plugin has to do with it."""
    if isinstance(error, PluginFailure) and (error.plugin in pipeline.guests or not pipeline.guests):
        return error
    for stage, plugin in pipeline.guest_steps():
        try:
            attempt(pipeline.without(stage, plugin))
        except Exception:
            continue
        what = str(error) if isinstance(error, PluginFailure) else repr(error)
        broken = PluginFailure(f"plugin {plugin.name} broke the job in {stage}: {what}", plugin.name)
        broken.__cause__ = error
        return broken
    if isinstance(error, PluginFailure):
        return error
    raise error


_NAME_PLUGINS = ("TF310", "TF905")


def with_culprits(
    told: Iterable[Diagnostic], given: Iterable[Diagnostic], pipeline: Pipeline, attempt: Attempt
) -> Iterator[Diagnostic]:
    """The diagnostics `told` of a job, where an error that a third-party plugin caused names it: one that is gone
    without the plugin, and that the plugin did not report itself. `given` are those from before any plugin ran."""
    known = {*map(_what, given)}
    unclear = {
        _what(each)
        for each in told
        if each.severity == "error" and each.plugin not in pipeline.guests and each.code not in _NAME_PLUGINS
    } - known
    causes: dict[tuple[object, ...], str] = {}
    for stage, plugin in pipeline.guest_steps() if unclear else ():
        try:
            left = {*map(_what, attempt(pipeline.without(stage, plugin)))}
        except Exception:
            continue
        causes |= dict.fromkeys(unclear - left, f"plugin {plugin.name} causes this in {stage}")
        unclear &= left
    for each in told:
        cause = causes.get(_what(each))
        yield each._replace(message=f"{cause}: {each.message}") if cause else each


def _what(told: Diagnostic) -> tuple[object, ...]:
    return told.code, told.severity, told.path, told.message, told.file

"""Every diagnostic code and its short title: one registry, so that a code never means two things.

A code is stable for ever once released: it may be retired, never reused. Keep each group in order.
"""

from __future__ import annotations

CODES: dict[str, str] = {
    # TF0xx: source text (syntax, encoding, limits, duplicate keys, ambiguous scalars)
    "TF001": "YAML syntax error",
    "TF002": "not UTF-8 text",
    "TF003": "character not allowed",
    "TF004": "over a limit of size, depth or aliases",
    "TF005": "duplicate key",
    "TF006": "key is no string",
    "TF007": "value cannot be read",
    "TF008": "tag is ignored",
    "TF009": "not an object",
    "TF010": "plain scalar that other readers take differently",
    "TF011": "invalid merge key or alias",
    "TF012": "merge key below a key that it merges",
    # TF1xx: shape of an object (fields, types, values)
    "TF101": "unknown field",
    "TF102": "wrong type",
    "TF103": "missing required field",
    "TF104": "invalid value",
    "TF105": "duplicate list entry",
    "TF106": "older dialect or replaced field",
    "TF107": "field written by the server is ignored",
    "TF108": "generated name",
    # TF2xx: linking (which objects belong together)
    "TF201": "runtime not found",
    "TF202": "no TrainJob",
    "TF203": "two objects of the same name",
    "TF204": "object of another kind left alone",
    "TF205": "older kind or API version",
    # TF3xx: rules for a TrainJob
    "TF301": "invalid name",
    "TF302": "reference to no kind of runtime",
    "TF303": "patch manager without a domain",
    "TF304": "patch sets variables that the job sets itself",
    "TF310": "plugins disagree",
    # TF4xx: rules for a runtime
    "TF401": "more than one ML policy",
    "TF402": "injection into the main container",
    "TF403": "replicas of a step",
    "TF404": "step without its main container",
    "TF405": "runtime without replicated jobs",
    "TF406": "no step labelled trainer",
    "TF407": "deprecated runtime",
    # TF5xx: rendered objects
    # TF6xx: lints
    # TF7xx: the repository (settings, files, commands)
    "TF701": "file cannot be read",
    "TF702": "link leads out of the repository",
    "TF703": "invalid project settings",
    "TF704": "no such path",
    "TF705": "no such job",
    "TF706": "foreign file in the way",
    "TF707": "file cannot be written",
    # TF9xx: faults of trainform and its plugins
    "TF901": "a plugin failed",
    # TFDxx: deviations from the controller, on purpose
    "TFD02": "no nodes",
    "TFD06": "two gang schedulers",
}

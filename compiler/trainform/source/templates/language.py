"""The subset of Jinja that templates may use, and where the sandbox counts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jinja2 import nodes
from jinja2.visitor import NodeTransformer

from trainform.diagnostics.suggest import did_you_mean
from trainform.source.templates.errors import Refused
from trainform.source.templates.sandbox import Sandbox

_ALLOWED = (
    *(nodes.Assign, nodes.AssignBlock, nodes.CallBlock, nodes.FilterBlock, nodes.For, nodes.If, nodes.Macro),
    *(nodes.Output, nodes.Scope, nodes.Template, nodes.TemplateData, nodes.With),
    *(nodes.Add, nodes.And, nodes.Call, nodes.Compare, nodes.Concat, nodes.CondExpr, nodes.Const, nodes.Dict),
    *(nodes.Div, nodes.Filter, nodes.FloorDiv, nodes.Getattr, nodes.Getitem, nodes.Keyword, nodes.List),
    *(nodes.Mod, nodes.Mul, nodes.Name, nodes.Neg, nodes.Not, nodes.Operand, nodes.Or, nodes.Pair, nodes.Pos),
    *(nodes.Pow, nodes.Slice, nodes.Sub, nodes.Test, nodes.Tuple),
)
_ONE_FILE = "templates cannot use other files; use YAML anchors, macros and env instead"
_REFUSED: dict[type[nodes.Node], tuple[str, str]] = {
    nodes.Block: ("block", _ONE_FILE),
    nodes.Extends: ("extends", _ONE_FILE),
    nodes.FromImport: ("import", _ONE_FILE),
    nodes.Import: ("import", _ONE_FILE),
    nodes.Include: ("include", _ONE_FILE),
    nodes.NSRef: ("namespace", "compute the value with filters instead"),
    nodes.ScopedEvalContextModifier: ("autoescape", "YAML does not need HTML escaping"),
}

Violation = tuple[int, Refused]
"""Line in the template, and the error there."""


def violations(tree: nodes.Template, sandbox: Sandbox) -> Iterator[Violation]:
    """Every construct in a parsed template that is not allowed."""
    for node in tree.find_all(nodes.Node):
        if found := _violation(node, sandbox):
            yield node.lineno, found


def _violation(node: nodes.Node, sandbox: Sandbox) -> Refused | None:
    if isinstance(node, nodes.Filter):
        return _unknown("filter", node.name, sandbox.filters)
    if isinstance(node, nodes.Test):
        return _unknown("test", node.name, sandbox.tests)
    if isinstance(node, nodes.For) and node.recursive:
        return Refused("TF015", "a recursive loop is not available in templates", word="recursive")
    if isinstance(node, nodes.Call) and (node.dyn_args or node.dyn_kwargs):
        return Refused("TF015", "* and ** in a call are not available in templates", word="*")
    if type(node) in _ALLOWED:
        return None
    word, hint = _REFUSED.get(type(node), (type(node).__name__.lower(), ""))
    return Refused("TF015", f"{word} is not available in templates", hint, word)


def _unknown(what: str, name: str, known: dict[str, Any]) -> Refused | None:
    if name in known:
        return None
    names = [each for each in known if each[0].isalpha()]
    hint = did_you_mean(name, names) or f"available: {', '.join(sorted(names))}"
    return Refused("TF015", f'there is no {what} "{name}" in templates', hint, name)


def meter(tree: nodes.Template, sandbox: Sandbox) -> None:
    """Makes the template pay for loops, calls, comparisons and joined text, which Jinja does not intercept."""
    _Meter(sandbox).visit(tree)
    tree.set_environment(sandbox)


class _Meter(NodeTransformer):
    def __init__(self, sandbox: Sandbox) -> None:
        self.weights = sandbox.weights

    def visit_For(self, node: nodes.For) -> nodes.Node:
        weight = _size(node)
        self.generic_visit(node)
        node.iter = _filtered("@each", node.iter, nodes.Const(weight))
        return node

    def visit_Macro(self, node: nodes.Macro) -> nodes.Node:
        return self._called(node, node.name)

    def visit_CallBlock(self, node: nodes.CallBlock) -> nodes.Node:
        return self._called(node, "caller")

    def _called(self, node: nodes.Node, name: str) -> nodes.Node:
        self.weights[name] = max(self.weights.get(name, 1), _size(node))
        return self.generic_visit(node)

    def visit_Compare(self, node: nodes.Compare) -> nodes.Node:
        self.generic_visit(node)
        node.expr = _filtered("@weighed", node.expr)
        for operand in node.ops:
            operand.expr = _filtered("@weighed", operand.expr)
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:
        self.generic_visit(node)
        return _filtered("@joined", nodes.List(node.nodes, lineno=node.lineno))

    def visit_Getitem(self, node: nodes.Getitem) -> nodes.Node:
        """Jinja compiles slices to Python's own and intercepts single items only."""
        self.generic_visit(node)
        if not isinstance(node.arg, nodes.Slice):
            return node
        ends = (node.arg.start, node.arg.stop, node.arg.step)
        return _filtered("@slice", node.node, *(end or nodes.Const(None) for end in ends))

    def visit_Tuple(self, node: nodes.Tuple) -> nodes.Node:
        """Tuples become lists: as a mapping key, a tuple would be hashed uncounted."""
        self.generic_visit(node)
        return nodes.List(node.items, lineno=node.lineno) if node.ctx == "load" else node


def _size(node: nodes.Node) -> int:
    return sum(1 for _ in node.find_all(nodes.Node))


def _filtered(name: str, value: Any, *args: nodes.Expr) -> nodes.Filter:
    return nodes.Filter(value, name, list(args), [], None, None, lineno=value.lineno)

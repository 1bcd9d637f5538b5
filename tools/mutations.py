"""The small changes that `tools/mutants.py` makes to a module, one at a time.

A change replaces one node of the syntax tree. Left out is what no test should look at: annotations,
docstrings, the texts of errors, words for readers, ``__repr__``, decorators, compiled kernels, and keywords
that only guard or speed up what is called.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType
from typing import Any, TypeGuard

Step = tuple[str, int | None]
Path = tuple[Step, ...]

_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_OPERATIONS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
}
_PAIRS = (("min", "max"), ("any", "all"), ("minimum", "maximum"), ("floor", "ceil"), ("argmin", "argmax"))
_TWINS = {
    **dict(_PAIRS),
    **{other: one for one, other in _PAIRS},
    "keys": "values",
    "sorted": "list",
    "cumsum": "asarray",
}
_SILENT_KEYWORDS = {"strict", "encoding", "use_threads", "copy"}
_SILENT_FUNCTIONS = {"__repr__", "__str__", "_repr_html_"}
_SILENT_NAMES = {"__all__", "words", "against", "version"}
_SILENT_FIELDS = {"annotation", "returns", "decorator_list", "bases"}


@dataclass(frozen=True)
class Mutation:
    """One change of one module.

    Parameters
    ----------
    module
        The module's file, from the root of the repository.
    function
        The function or class that it is in; empty at the module's top.
    was, becomes
        The first line of the statement, before and after.
    number
        Which one it is among those that read alike.
    path, choice
        Where the node stands in the tree, and which of its replacements is meant.
    lines
        The lines that a test must run to see the change.
    in_body
        Whether it is in the body of a function: what is not, is computed when the module is imported.
    """

    module: str
    function: str
    was: str
    becomes: str
    number: int
    path: Path
    choice: int
    lines: tuple[int, ...]
    in_body: bool

    @property
    def name(self) -> str:
        """What the change is called, whichever line it is on."""
        again = f" #{self.number}" if self.number else ""
        return f"{self.module} | {self.function} | {self.was} | {self.becomes}{again}"


@dataclass(frozen=True)
class _Place:
    """Where the walk through a tree is."""

    path: Path = ()
    function: tuple[str, ...] = ()
    statement: ast.stmt | None = None
    in_body: bool = False
    scope: Any = None


def mutations(module: str, source: str) -> list[Mutation]:
    """Return every change of a module."""
    tree = ast.parse(source)
    seen: Counter[tuple[str, str, str]] = Counter()
    found = []
    for place, node in _walk(tree, _Place(scope=tree)):
        for choice, other in enumerate(replacements(node)):
            was, becomes = _texts(tree, place, other)
            words = (".".join(place.function), was, becomes)
            found.append(
                Mutation(module, *words, seen[words], place.path, choice, _lines(place, node), place.in_body)
            )
            seen[words] += 1
    return found


def _walk(node: ast.AST, place: _Place) -> Iterator[tuple[_Place, ast.AST]]:
    if _is_silent(node):
        return
    if isinstance(node, ast.stmt):
        place = _Place(place.path, place.function, node, place.in_body, place.scope)
    yield place, node
    if isinstance(node, (ast.Raise, ast.JoinedStr, ast.Assert)):
        return
    for field, value in ast.iter_fields(node):
        inner = _inside(node, field, place)
        if field in _SILENT_FIELDS or (isinstance(node, ast.ClassDef) and field == "keywords"):
            continue
        items = enumerate(value) if isinstance(value, list) else [(None, value)]
        for index, child in items:
            if isinstance(child, ast.AST) and not _is_text(node, field, index, child):
                yield from _walk(child, _moved(inner, (field, index)))


def _moved(place: _Place, step: Step) -> _Place:
    return _Place((*place.path, step), place.function, place.statement, place.in_body, place.scope)


def _inside(node: ast.AST, field: str, place: _Place) -> _Place:
    """Return the place with the name of a function or class, once the walk is in it."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        in_body = place.in_body or (isinstance(node, ast.FunctionDef) and field == "body")
        return _Place(place.path, (*place.function, node.name), place.statement, in_body, node)
    if isinstance(node, ast.Lambda) and field == "body":
        return _Place(place.path, place.function, place.statement, True, place.scope)
    return place


def _is_silent(node: ast.AST) -> bool:
    if isinstance(node, (ast.Import, ast.ImportFrom, ast.cmpop, ast.operator, ast.boolop, ast.unaryop)):
        return True
    if isinstance(node, ast.FunctionDef):
        compiled = any("njit" in ast.unparse(each) for each in node.decorator_list)
        return compiled or node.name in _SILENT_FUNCTIONS
    if isinstance(node, ast.If):
        return ast.unparse(node.test) == "TYPE_CHECKING"
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return any(isinstance(each, ast.Name) and each.id in _SILENT_NAMES for each in targets)
    return isinstance(node, ast.keyword) and node.arg in _SILENT_KEYWORDS


def _is_text(node: ast.AST, field: str, index: int | None, child: ast.AST) -> bool:
    """Return whether a child is a text for readers (the statement of a check, of an error), or a type."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return False
    name = node.func.id
    is_first = name in ("Check", "cast") and (field, index) == ("args", 0)
    return is_first or name.endswith(("Error", "Failed", "Words"))


def _lines(place: _Place, node: ast.AST) -> tuple[int, ...]:
    assert place.statement is not None
    if not place.in_body:
        scope = place.scope
        if isinstance(scope, ast.Module):
            return _uses(scope, place.statement)
        return tuple(range(scope.lineno, scope.end_lineno + 1))
    first = getattr(node, "lineno", place.statement.lineno)
    last = getattr(node, "end_lineno", first) if isinstance(node, ast.expr) else first
    return tuple(sorted({place.statement.lineno, *range(first, last + 1)}))


def _uses(module: ast.Module, statement: ast.stmt) -> tuple[int, ...]:
    """Return the lines of a module's functions that use what a statement at its top gives a name."""
    names = {each.id for each in ast.walk(statement) if _is_name(each, ast.Store)}
    functions = [each for each in ast.walk(module) if isinstance(each, ast.FunctionDef)]
    inside = [each for function in functions for each in ast.walk(function) if _is_name(each, ast.Load)]
    return tuple(sorted({each.lineno for each in inside if each.id in names}))


def _is_name(node: ast.AST, context: type[ast.expr_context]) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and isinstance(node.ctx, context)


def _texts(tree: ast.Module, place: _Place, other: ast.AST) -> tuple[str, str]:
    assert place.statement is not None
    if not isinstance(other, ast.stmt):
        was = _first_line(place.statement)
        old = replace(tree, place.path, other)
        becomes = _first_line(place.statement)
        replace(tree, place.path, old)
        return was, becomes
    return _first_line(place.statement), _first_line(other)


def _first_line(statement: ast.stmt) -> str:
    shown = copy.copy(statement)
    for field in ("decorator_list", "body", "orelse", "handlers", "finalbody", "cases"):
        if isinstance(getattr(shown, field, None), list):
            setattr(shown, field, [])
    return ast.unparse(shown).strip().splitlines()[0]


def replace(tree: ast.Module, path: Path, other: ast.AST) -> ast.AST:
    """Put another node where a path leads to; return the one that stood there."""
    node: ast.AST = tree
    for field, index in path[:-1]:
        value = getattr(node, field)
        node = value if index is None else value[index]
    field, index = path[-1]
    if index is None:
        old: ast.AST = getattr(node, field)
        setattr(node, field, other)
    else:
        old = getattr(node, field)[index]
        getattr(node, field)[index] = other
    return old


def mutated(source: str, mutation: Mutation) -> ast.Module:
    """Return the tree of a module with one change in it."""
    tree = ast.parse(source)
    node: ast.AST = tree
    for field, index in mutation.path:
        value = getattr(node, field)
        node = value if index is None else value[index]
    other = list(replacements(node))[mutation.choice]
    replace(tree, mutation.path, ast.copy_location(other, node))
    return ast.fix_missing_locations(tree)


def codes(code: CodeType) -> dict[tuple[str, int, int], CodeType]:
    """Return the code of every function in a module, by its name, line and place among those of one line."""
    found: dict[tuple[str, int, int], CodeType] = {}
    seen: Counter[tuple[str, int]] = Counter()

    def visit(outer: CodeType) -> None:
        for inner in outer.co_consts:
            if isinstance(inner, CodeType):
                key = (inner.co_qualname, inner.co_firstlineno)
                found[*key, seen[key]] = inner
                seen[key] += 1
                visit(inner)

    visit(code)
    return found


# Replacements


def replacements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what may stand in the place of a node."""
    match node:
        case ast.Compare():
            yield from _compared(node)
        case ast.BoolOp():
            yield _with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert()):
            yield node.operand
        case ast.BinOp() if type(node.op) in _OPERATIONS and not _is_printing(node):
            yield _with(node, op=_OPERATIONS[type(node.op)]())
        case ast.AugAssign() if type(node.op) in _OPERATIONS:
            yield _with(node, op=_OPERATIONS[type(node.op)]())
            yield ast.Pass()
        case ast.Constant():
            yield from (ast.Constant(other) for other in _other_constants(node.value))
        case ast.IfExp() if not isinstance(node.test, ast.Compare):
            yield _with(node, body=node.orelse, orelse=node.body)
        case ast.Slice():
            yield from (_with(node, **{end: None}) for end in ("lower", "upper") if getattr(node, end))
        case ast.Name(id=name) | ast.Attribute(attr=name) if name in _TWINS:
            yield _with(node, **{"id" if isinstance(node, ast.Name) else "attr": _TWINS[name]})
        case ast.Call():
            yield from _without_keywords(node)
        case ast.comprehension(ifs=[_, *_]):
            yield _with(node, ifs=[])
        case ast.Return() if node.value is not None and not _is_none(node.value):
            yield _with(node, value=ast.Constant(None))
        case ast.Raise() | ast.Expr() | ast.Delete():
            yield ast.Pass()
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield ast.Pass()
        case ast.Continue():
            yield ast.Break()
        case ast.Break():
            yield ast.Continue()


def _compared(node: ast.Compare) -> Iterator[ast.AST]:
    for place, operator in enumerate(node.ops):
        for other in _COMPARISONS[type(operator)]:
            yield _with(node, ops=[*node.ops[:place], other(), *node.ops[place + 1 :]])


def _other_constants(value: Any) -> tuple[Any, ...]:
    match value:
        case bool():
            return (not value,)
        case int():
            return (value + 1, value - 1)
        case float():
            return (value + 1.0, -value) if value else (1.0,)
        case str():
            return ("",) if value else ("mutated",)
    return ()


def _without_keywords(node: ast.Call) -> Iterator[ast.AST]:
    for place, keyword in enumerate(node.keywords):
        if keyword.arg not in _SILENT_KEYWORDS and keyword.arg is not None:
            yield _with(node, keywords=[*node.keywords[:place], *node.keywords[place + 1 :]])


def _is_printing(node: ast.BinOp) -> bool:
    return any(
        isinstance(side, ast.JoinedStr) or (isinstance(side, ast.Constant) and isinstance(side.value, str))
        for side in (node.left, node.right)
    )


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _with(node: ast.AST, **fields: object) -> ast.AST:
    other = copy.copy(node)
    for name, value in fields.items():
        setattr(other, name, value)
    return other

"""The body of a native function: its statements as LLVM IR.

Variables live on the stack, from which LLVM's first pass takes them, so nothing here looks further than one
statement.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from types import FunctionType

from .code import Callee, result_type
from .expressions import Expressions
from .syntax import definition_of, meaning_of


class Body(Expressions):
    """One function's; `callee` and `table` say how others and tuples are called in IR."""

    def __init__(
        self,
        callee: Callable[[object], Callee | None],
        table: Callable[[tuple[int, ...]], str],
        function: FunctionType,
        parameters: Sequence[tuple[str, str]],
        results: int,
    ):
        super().__init__(callee, table, function, parameters)
        self._results = results
        self._loops: list[tuple[str, str]] = []  # where `continue` and `break` lead

    def text(self) -> str:
        """The lines between the function's braces."""
        definition = definition_of(self._function)
        self._run(definition.body)
        if self._results == 0:
            self._code.end("ret void")
        elif self._code.reached:
            raise self._refuse(definition, "may end without a return statement")
        return "\n".join([*self._code.entry, *self._code.lines, ""])

    def _run(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            if self._code.reached:
                self._step(statement)

    def _step(self, node: ast.stmt) -> None:
        match node:
            case ast.Expr(ast.Constant()) | ast.Pass():
                pass
            case ast.Expr(ast.Call() as call):
                self._call(call)
            case ast.Assign():
                self._assign(node)
            case ast.AugAssign():
                place = self._place(node.target)
                value = self._operate(node, node.op, self._code.load(place), self._value(node.value))
                self._code.store(value, place)
            case ast.If():
                self._if(node)
            case ast.While(orelse=[]):
                self._while(node)
            case ast.For(target=ast.Name(), orelse=[]):
                self._for(node)
            case ast.Return():
                self._return(node)
            case ast.Continue():
                self._code.jump(self._loops[-1][0])
            case ast.Break():
                self._code.jump(self._loops[-1][1])
            case _:
                raise self._refuse(node, f"says {ast.unparse(node)!r}")

    def _place(self, target: ast.expr) -> str:
        """Where what is assigned to goes."""
        if isinstance(target, ast.Name):
            return self._variables[target.id]
        if isinstance(target, ast.Subscript) and self._is_address(target.value):
            return self._element(target)
        raise self._refuse(target, f"assigns to {ast.unparse(target)!r}")

    def _assign(self, node: ast.Assign) -> None:
        values = self._words(node.value)
        for target in node.targets:
            targets = target.elts if isinstance(target, ast.Tuple) else [target]
            if len(targets) != len(values):
                raise self._refuse(node, f"assigns {len(values)} words to {len(targets)} variables")
            for one, value in zip(targets, values, strict=True):
                self._code.store(value, self._place(one))

    def _return(self, node: ast.Return) -> None:
        values = [] if node.value is None else self._words(node.value)
        kind = result_type(self._results)
        if self._results < 2:
            self._code.end(f"ret {' '.join([kind, *values])}")
            return
        found = "undef"
        for number, value in enumerate(values):
            found = self._code.value(f"insertvalue {kind} {found}, i64 {value}, {number}")
        self._code.end(f"ret {kind} {found}")

    def _if(self, node: ast.If) -> None:
        code = self._code
        yes, no, end = code.label(), code.label(), code.label()
        self._branch(node.test, yes, no)
        code.place(yes)
        self._run(node.body)
        code.jump(end)
        code.place(no)
        self._run(node.orelse)
        code.place(end)

    def _while(self, node: ast.While) -> None:
        code = self._code
        head, body, end = code.label(), code.label(), code.label()
        code.place(head)
        self._branch(node.test, body, end)
        code.place(body)
        self._loop(node.body, head, end)
        code.jump(head)
        code.place(end)

    def _loop(self, statements: Sequence[ast.stmt], on: str, end: str) -> None:
        self._loops.append((on, end))
        self._run(statements)
        self._loops.pop()

    def _for(self, node: ast.For) -> None:
        """Over a range, or once for each of a tuple's elements."""
        iterated, target = node.iter, self._place(node.target)
        if isinstance(iterated, ast.Call) and meaning_of(self._function, iterated.func) is range:
            self._for_range(node, target, iterated.args)
            return
        if isinstance(iterated, ast.Tuple):
            values = list(map(self._value, iterated.elts))
        else:
            values = list(map(str, self._constants(iterated)))
        end = self._code.label()
        for value in values:
            on = self._code.label()
            self._code.store(value, target)
            self._loop(node.body, on, end)
            self._code.place(on)
        self._code.place(end)

    def _for_range(self, node: ast.For, target: str, bounds: list[ast.expr]) -> None:
        code = self._code
        step = self._value(bounds[2]) if len(bounds) == 3 else "1"
        first = self._value(bounds[0]) if len(bounds) > 1 else "0"
        last = self._value(bounds[1] if len(bounds) > 1 else bounds[0])
        place, head, body, on, end = code.slot(), *(code.label() for _ in range(4))
        code.store(first, place)
        code.place(head)
        now = code.load(place)
        up, down = (code.value(f"icmp {order} i64 {now}, {last}") for order in ("slt", "sgt"))
        rises = code.value(f"icmp sgt i64 {step}, 0")
        code.branch(code.value(f"select i1 {rises}, i1 {up}, i1 {down}"), body, end)
        code.place(body)
        code.store(now, target)
        self._loop(node.body, on, end)
        code.place(on)
        code.store(code.value(f"add nsw i64 {now}, {step}"), place)
        code.jump(head)
        code.place(end)

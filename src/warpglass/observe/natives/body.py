"""The body of a native function: its statements and expressions as LLVM IR.

Variables live on the stack, from which LLVM's first pass takes them, so nothing here looks further than one
statement. Conditions become branches, which LLVM folds again.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from types import FunctionType

from .code import Callee, Code, result_type
from .syntax import definition_of, meaning_of, refused

_OPERATIONS = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
    ast.LShift: "shl",
    ast.RShift: "ashr",
}
_COMPARISONS = {
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "slt",
    ast.LtE: "sle",
    ast.Gt: "sgt",
    ast.GtE: "sge",
}
_CHOICES = ((min, '@"llvm.smin.i64"'), (max, '@"llvm.smax.i64"'))


class _Expressions:
    """The values of expressions."""

    def __init__(
        self,
        callee: Callable[[object], Callee | None],
        table: Callable[[tuple[int, ...]], str],
        function: FunctionType,
        parameters: Sequence[tuple[str, str]],
    ):
        self._callee, self._table, self._function = callee, table, function
        self._code = Code()
        self._pointers = {name for name, kind in parameters if kind == "ptr"}
        words = [name for name, kind in parameters if kind == "i64"]
        stored = [
            node.id
            for node in ast.walk(definition_of(function))
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        ]
        self._variables = {name: self._code.slot(name) for name in dict.fromkeys([*words, *stored])}
        for name in words:
            self._code.store(f"%{name}.given", self._variables[name])

    def _refuse(self, node: ast.AST, why: str) -> Exception:
        return refused(self._function, node, why)

    def _value(self, node: ast.expr) -> str:
        """A word."""
        code = self._code
        match node:
            case ast.Name() if node.id in self._variables:
                return code.load(self._variables[node.id])
            case ast.Name() | ast.Attribute() | ast.Constant():
                return self._constant(node)
            case ast.BinOp():
                return self._operate(node, node.op, self._value(node.left), self._value(node.right))
            case ast.UnaryOp(ast.USub()):
                return code.value(f"sub i64 0, {self._value(node.operand)}")
            case ast.UnaryOp(ast.Invert()):
                return code.value(f"xor i64 {self._value(node.operand)}, -1")
            case ast.Compare(comparators=[_]):
                return code.value(f"zext i1 {self._bit(node)} to i64")
            case ast.IfExp() | ast.BoolOp() | ast.Compare() | ast.UnaryOp(ast.Not()):
                return self._chosen(node)
            case ast.Subscript():
                return code.load(self._element(node))
            case ast.Call():
                values = self._call(node)
                if len(values) == 1:
                    return values[0]
        raise self._refuse(node, f"uses {ast.unparse(node)!r} as a word")

    def _constant(self, node: ast.expr) -> str:
        value = node.value if isinstance(node, ast.Constant) else meaning_of(self._function, node)
        if not isinstance(value, int) or not -(1 << 63) <= value < 1 << 63:
            raise self._refuse(node, f"uses {ast.unparse(node)!r}, which is no integer of 64 bits")
        return str(int(value))

    def _operate(self, node: ast.AST, operator: ast.operator, left: str, right: str) -> str:
        code = self._code
        if isinstance(operator, ast.FloorDiv | ast.Mod):
            rest = code.value(f"srem i64 {left}, {right}")
            differ = code.value(f"icmp slt i64 {code.value(f'xor i64 {rest}, {right}')}, 0")
            some = code.value(f"icmp ne i64 {rest}, 0")
            below = code.value(f"and i1 {some}, {differ}")
            if isinstance(operator, ast.Mod):
                return code.value(f"add i64 {rest}, {code.value(f'select i1 {below}, i64 {right}, i64 0')}")
            towards_zero = code.value(f"sdiv i64 {left}, {right}")
            return code.value(f"add i64 {towards_zero}, {code.value(f'sext i1 {below} to i64')}")
        if type(operator) not in _OPERATIONS:
            raise self._refuse(node, f"uses the operation {type(operator).__name__}")
        return code.value(f"{_OPERATIONS[type(operator)]} i64 {left}, {right}")

    def _bit(self, node: ast.expr) -> str:
        """Whether an expression without branches is true, as an i1."""
        if isinstance(node, ast.Compare):
            return self._compare(node.ops[0], self._value(node.left), self._value(node.comparators[0]))
        return self._code.value(f"icmp ne i64 {self._value(node)}, 0")

    def _compare(self, operator: ast.cmpop, left: str, right: str) -> str:
        return self._code.value(f"icmp {_COMPARISONS[type(operator)]} i64 {left}, {right}")

    def _branch(self, node: ast.expr, yes: str, no: str) -> None:
        """Go on at one of two labels."""
        code = self._code
        match node:
            case ast.Constant(value=bool() | int()):
                code.jump(yes if node.value else no)
            case ast.UnaryOp(ast.Not()):
                self._branch(node.operand, no, yes)
            case ast.BoolOp():
                for one in node.values[:-1]:
                    on = code.label()
                    self._branch(one, *((on, no) if isinstance(node.op, ast.And) else (yes, on)))
                    code.place(on)
                self._branch(node.values[-1], yes, no)
            case ast.Compare():
                left = self._value(node.left)
                *firsts, last = zip(node.ops, node.comparators, strict=True)
                for operator, comparator in firsts:
                    on, right = code.label(), self._value(comparator)
                    code.branch(self._compare(operator, left, right), on, no)
                    code.place(on)
                    left = right
                code.branch(self._compare(last[0], left, self._value(last[1])), yes, no)
            case _:
                code.branch(self._bit(node), yes, no)

    def _chosen(self, node: ast.expr) -> str:
        """An expression of which only parts are computed."""
        code = self._code
        place, end = code.slot(), code.label()
        if isinstance(node, ast.BoolOp):
            for one in node.values[:-1]:
                value, on = self._value(one), code.label()
                code.store(value, place)
                bit = code.value(f"icmp ne i64 {value}, 0")
                code.branch(bit, *((on, end) if isinstance(node.op, ast.And) else (end, on)))
                code.place(on)
            code.store(self._value(node.values[-1]), place)
        else:
            yes, no = code.label(), code.label()
            one, other = (node.body, node.orelse) if isinstance(node, ast.IfExp) else (None, None)
            self._branch(node.test if isinstance(node, ast.IfExp) else node, yes, no)
            code.place(yes)
            code.store("1" if one is None else self._value(one), place)
            code.jump(end)
            code.place(no)
            code.store("0" if other is None else self._value(other), place)
        code.place(end)
        return code.load(place)

    def _is_address(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id in self._pointers

    def _element(self, node: ast.Subscript) -> str:
        """Where an element of words or of a table is."""
        index = self._value(node.slice)
        if self._is_address(node.value):
            words = f"%{ast.unparse(node.value)}.given"
        else:
            words = self._table(self._constants(node.value))
        return self._code.value(f"getelementptr inbounds i64, ptr {words}, i64 {index}")

    def _constants(self, node: ast.expr) -> tuple[int, ...]:
        values = meaning_of(self._function, node)
        if not isinstance(values, tuple) or not all(isinstance(value, int) for value in values):
            raise self._refuse(node, f"uses {ast.unparse(node)!r}, which is no tuple of integers")
        return tuple(map(int, values))

    def _call(self, node: ast.Call) -> list[str]:
        """The words that a call returns."""
        code, target = self._code, meaning_of(self._function, node.func)
        for choice, symbol in _CHOICES:
            if target is choice and len(node.args) > 1 and not node.keywords:
                best, *others = map(self._value, node.args)
                for other in others:
                    best = code.value(f"call i64 {symbol}(i64 {best}, i64 {other})")
                return [best]
        callee = self._callee(target)
        if callee is None or node.keywords:
            raise self._refuse(node, f"calls {ast.unparse(node)!r}, which it cannot")
        if len(node.args) != len(callee.parameters):
            raise self._refuse(node, f"gives {ast.unparse(node.func)} {len(node.args)} arguments")
        given = ", ".join(map(self._argument, callee.parameters, node.args))
        call = f"call {result_type(callee.results)} {callee.symbol}({given})"
        if callee.results == 0:
            code.emit(call)
            return []
        found = code.value(call)
        if callee.results == 1:
            return [found]
        kind = result_type(callee.results)
        return [code.value(f"extractvalue {kind} {found}, {number}") for number in range(callee.results)]

    def _argument(self, kind: str, node: ast.expr) -> str:
        if kind == "i64":
            return f"i64 {self._value(node)}"
        if not self._is_address(node):
            raise self._refuse(node, f"gives {ast.unparse(node)!r} as the address of words")
        return f"ptr %{ast.unparse(node)}.given"


class Body(_Expressions):
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

    def _words(self, node: ast.expr) -> list[str]:
        if isinstance(node, ast.Tuple):
            return list(map(self._value, node.elts))
        return self._call(node) if isinstance(node, ast.Call) else [self._value(node)]

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

"""The expressions of a native function as LLVM IR.

Conditions become branches, which LLVM folds again.
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


class Expressions:
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
            case ast.BoolOp():
                return self._last(node)
            case ast.Compare() | ast.UnaryOp(ast.Not()):
                return self._either(node, lambda: ["1"], lambda: ["0"])[0]
            case ast.Subscript():
                return code.load(self._element(node))
            case ast.Call() | ast.IfExp():
                values = self._words(node)
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
            return self._compare(node.ops[0], self._value(node.left), self._compared(node.comparators[0]))
        return self._code.value(f"icmp ne i64 {self._value(node)}, 0")

    def _compare(self, operator: ast.cmpop, left: str, right: list[str]) -> str:
        """How a word compares with another, or with several, as `in` and `not in` do."""
        code = self._code
        if type(operator) in _COMPARISONS and len(right) == 1:
            return code.value(f"icmp {_COMPARISONS[type(operator)]} i64 {left}, {right[0]}")
        if not isinstance(operator, ast.In | ast.NotIn):
            raise self._refuse(operator, f"compares by {type(operator).__name__} with {len(right)} words")
        found = "false"
        for one in right:
            found = code.value(f"or i1 {found}, {code.value(f'icmp eq i64 {left}, {one}')}")
        return found if isinstance(operator, ast.In) else code.value(f"xor i1 {found}, true")

    def _compared(self, node: ast.expr) -> list[str]:
        """What is compared with: a word, or those of a tuple."""
        is_table = isinstance(meaning_of(self._function, node), tuple)
        return list(map(str, self._constants(node))) if is_table else self._words(node)

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
                    on, right = code.label(), self._compared(comparator)
                    code.branch(self._compare(operator, left, right), on, no)
                    code.place(on)
                    left = right[0]
                code.branch(self._compare(last[0], left, self._compared(last[1])), yes, no)
            case _:
                code.branch(self._bit(node), yes, no)

    def _words(self, node: ast.expr) -> list[str]:
        """One word or several."""
        match node:
            case ast.Tuple():
                return list(map(self._value, node.elts))
            case ast.Call():
                return self._call(node)
            case ast.IfExp():
                return self._either(
                    node.test, lambda: self._words(node.body), lambda: self._words(node.orelse)
                )
        return [self._value(node)]

    def _either(
        self, test: ast.expr, one: Callable[[], list[str]], other: Callable[[], list[str]]
    ) -> list[str]:
        """The words that one of two computes, as a test says."""
        code = self._code
        yes, no, end = code.label(), code.label(), code.label()
        self._branch(test, yes, no)
        code.place(yes)
        places = [code.kept(value) for value in one()]
        code.jump(end)
        code.place(no)
        values = other()
        if len(values) != len(places):
            raise self._refuse(test, "chooses between different numbers of words")
        for value, place in zip(values, places, strict=True):
            code.store(value, place)
        code.place(end)
        return list(map(code.load, places))

    def _last(self, node: ast.BoolOp) -> str:
        """The operand of `and` or `or` that says how it ends."""
        code = self._code
        place, end = code.slot(), code.label()
        for one in node.values[:-1]:
            value, on = self._value(one), code.label()
            code.store(value, place)
            bit = code.value(f"icmp ne i64 {value}, 0")
            code.branch(bit, *((on, end) if isinstance(node.op, ast.And) else (end, on)))
            code.place(on)
        code.store(self._value(node.values[-1]), place)
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

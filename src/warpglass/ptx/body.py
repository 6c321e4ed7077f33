"""Function bodies: statements, labels, scopes and source lines.

Belongs here: everything between the `{` and `}` of a function. A mistake costs one statement: parsing goes on
behind its `;`, or at the next line if that clearly starts a new statement.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from .constants import parse_integer
from .declarations import parse_parameters, parse_registers, parse_variables
from .lexer import Mistake, Tokens, shorten
from .names import Names
from .operands import is_word, parse_guard, parse_operands
from .tree import Guard, Instruction, Label, Prototype, SourceLocation, Symbol, Variable

_MAXIMUM_DEPTH = 200  # nested scopes
_FUNCTION_STARTS = frozenset((".visible", ".entry", ".func", ".weak", ".version", ".address_size"))


@dataclass(slots=True)
class Body:
    """What a function's braces contain."""

    statements: list[Instruction | Label] = field(default_factory=list[Instruction | Label])
    variables: list[Variable] = field(default_factory=list[Variable])
    directives: list[tuple[str, tuple[int, ...]]] = field(default_factory=list[tuple[str, tuple[int, ...]]])
    branch_targets: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    call_targets: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    prototypes: dict[str, Prototype] = field(default_factory=dict[str, Prototype])


def parse_body(tokens: Tokens, index: int, names: Names, files: Mapping[int, str]) -> tuple[Body, int]:
    """The body whose `{` is at a token, and the index behind its `}`."""
    parser = _BodyParser(tokens, index, names, files)
    parser.parse()
    return parser.body, parser.index


def skip_block(tokens: Tokens, index: int) -> int:
    """The index behind the `}` that closes the `{` at a token; the end of the file if none does."""
    depth = 0
    for position in range(bisect_left(tokens.structure, index), len(tokens.structure)):
        token = tokens.texts[tokens.structure[position]]
        depth += (token == "{") - (token == "}")
        if depth == 0:
            return tokens.structure[position] + 1
    return tokens.count


class _BodyParser:
    """The state of parsing one body."""

    def __init__(self, tokens: Tokens, index: int, names: Names, files: Mapping[int, str]):
        self.tokens = tokens
        self.texts = tokens.texts
        self.index = index
        self.names = names
        self.files = files
        self.body = Body()
        self.source: SourceLocation | None = None
        self._opened = [index]
        self._opcodes: dict[str, tuple[str, tuple[str, ...]]] = {}
        self._locations: dict[tuple[int, int, int], SourceLocation] = {}
        self._place_before: tuple[int, int, int] = (0, 0, 0)  # of the last `.loc` with a line
        self._interrupted = False  # by one without
        self._directives: dict[str, Callable[[], None]] = {
            ".loc": self._loc,
            ".reg": self._registers,
            ".pragma": self._pragma,
            ".section": self._section,
            ".file": self._skip_line,
            **dict.fromkeys((".shared", ".local", ".param", ".global", ".const", ".extern"), self._variables),
            **dict.fromkeys((".maxntid", ".reqntid", ".minnctapersm", ".maxnreg"), self._launch_bound),
        }

    def parse(self) -> None:
        """Parse from the `{` to behind the matching `}`."""
        self._declare_labels()
        self.index += 1
        while self._opened:
            before = self.index
            try:
                self._statement()
            except Mistake as mistake:
                self.tokens.report(mistake)
                self.index = max(mistake.index, before)
                self._recover(before)
                if self.texts[before][:1] == ".":
                    self.tokens.lose(before, self.index)

    # ------------------------------------------------------------------------------------ statements
    def _statement(self) -> None:
        token = self.texts[self.index]
        directive = self._directives.get(token)
        if directive is not None:
            directive()
        elif is_word(token):
            if self.texts[self.index + 1] == ":":
                self._label()
            else:
                self._instruction(None)
        elif token == "@":
            register, negated, self.index = parse_guard(self.tokens, self.names, self.index)
            self._instruction(Guard(register, negated))
        elif token == "{":
            self._open()
        elif token == "}":
            self._close()
        elif token == ";":
            self.index += 1
        else:
            self._reject(token)

    def _instruction(self, guard: Guard | None) -> None:
        texts = self.texts
        at = self.index
        head = texts[at]
        opcode = self._opcodes.get(head) or self._split_opcode(at)
        index = at + 1
        modifiers = opcode[1]
        while texts[index][:1] == ".":  # blanks between the opcode and its modifiers
            modifiers = (*modifiers, *texts[index][1:].split("."))
            index += 1
        if texts[index] == ";":
            operands = ()
        else:
            operands, index = parse_operands(self.tokens, self.names, index)
        line = self.tokens.line(at)
        self.body.statements.append(Instruction(opcode[0], modifiers, operands, guard, line, self.source))
        self.index = index + 1

    def _split_opcode(self, index: int) -> tuple[str, tuple[str, ...]]:
        head = self.texts[index]
        if not head[:1].islower() or "$" in head:
            raise Mistake(index, f"expected an instruction, a label or a directive, found {shorten(head)!r}")
        opcode, *modifiers = head.split(".")
        self._opcodes[head] = (opcode, tuple(modifiers))
        return self._opcodes[head]

    def _label(self) -> None:
        """A branch target, or the name of a table of targets or of a prototype."""
        at = self.index
        symbol = self.names.current.get(self.texts[at])
        # Unbalanced braces hide a label from _declare_labels; it is then declared here.
        name = symbol.name if isinstance(symbol, Symbol) else self.names.declare_symbol(at, self.texts[at])
        self.index += 2
        table = self.texts[self.index]
        if table == ".branchtargets":
            self.body.branch_targets[name] = self._targets()
        elif table == ".calltargets":
            self.body.call_targets[name] = self._targets()
        elif table == ".callprototype":
            self.body.prototypes[name] = self._prototype()
        else:
            self.body.statements.append(Label(name, self.tokens.line(at)))

    def _targets(self) -> tuple[str, ...]:
        targets: list[str] = []
        while True:
            self.index += 1
            target = self.names.resolve(self.index) if is_word(self.texts[self.index]) else None
            if not isinstance(target, Symbol):
                raise self.tokens.expected(self.index, "a label or function")
            targets.append(target.name)
            self.index += 1
            if self.texts[self.index] != ",":
                break
        self._end("the list of targets")
        return tuple(targets)

    def _prototype(self) -> Prototype:
        self.index += 1
        results = self._signature_part()
        if not is_word(self.texts[self.index]):
            raise self.tokens.expected(self.index, "'_' as the prototype's name")
        self.index += 1
        parameters = self._signature_part()
        noreturn = False
        while self.texts[self.index][:1] == ".":  # .noreturn, .abi_preserve 4, .abi_preserve_control 2
            noreturn |= self.texts[self.index] == ".noreturn"
            self.index += 1 + self.texts[self.index + 1].isdecimal()
        self._end(".callprototype")
        return Prototype(results, parameters, noreturn)

    def _signature_part(self) -> tuple[Variable, ...]:
        if self.texts[self.index] != "(":
            return ()
        found, self.index = parse_parameters(self.tokens, self.index)
        return tuple(
            one
            for _, variable in found
            for one in (
                [replace(variable, vector=1)] * variable.vector if variable.space == "reg" else [variable]
            )
        )

    # ------------------------------------------------------------------------------------ directives
    def _registers(self) -> None:
        self.index = parse_registers(self.tokens, self.index, self.names)

    def _variables(self) -> None:
        linkage = ""
        index = self.index
        if self.texts[index] == ".extern":
            linkage, index = "extern", index + 1
        found, self.index = parse_variables(self.tokens, index, linkage, self._reference)
        for at, variable in found:
            unique = self.names.declare_symbol(at, variable.name)
            self.body.variables.append(rename(variable, unique))

    def _reference(self, index: int) -> Symbol:
        symbol = self.names.resolve(index)
        if not isinstance(symbol, Symbol):
            raise Mistake(index, f"{shorten(self.texts[index])} is no variable or function")
        return symbol

    def _launch_bound(self) -> None:
        word = self.texts[self.index]
        values: list[int] = []
        self.index += 1
        while self.texts[self.index][:1].isdigit():
            value, self.index = parse_integer(self.tokens, self.index, "a number")
            values.append(value)
            self.index += self.texts[self.index] == ","
        self.index += self.texts[self.index] == ";"
        self.body.directives.append((word[1:], tuple(values)))

    def _loc(self) -> None:
        """`.loc file line column [, function_name label [+ n], inlined_at file line column]`."""
        at = self.index
        place = self._place(at + 1)
        inlined_at = None
        while self.texts[self.index] == ",":
            word = self.texts[self.index + 1]
            if word == "inlined_at":
                inlined_at = self._location(self._place(self.index + 2), at)
            elif word == "function_name":
                self.index += 3
                if self.texts[self.index] == "+":
                    self.index += 2
            else:
                raise self.tokens.expected(self.index + 1, "function_name or inlined_at")
        if place[1] == 0:  # no line of its own
            self._interrupted = True
            return
        before = self.source
        if self._interrupted and before and inlined_at is None and place == self._place_before:
            inlined_at = before.inlined_at  # which compilers leave out where they take a line up again
        self._interrupted, self._place_before = False, place
        source = self._location(place, at)
        if source.inlined_at != inlined_at:
            source = SourceLocation(source.file, place[1], place[2], inlined_at)
        self.source = self._locations[place] = source

    def _place(self, index: int) -> tuple[int, int, int]:
        """The three numbers of a `.loc`; compilers before ISA 2.3 left out the column."""
        numbers: list[int] = []
        while len(numbers) < 3 and self.texts[index].isdecimal() and len(self.texts[index]) < 12:
            numbers.append(int(self.texts[index]))
            index += 1
        if len(numbers) < 2:
            raise self.tokens.expected(index, "a file number, a line and a column")
        self.index = index
        return numbers[0], numbers[1], numbers[2] if len(numbers) == 3 else 0

    def _location(self, place: tuple[int, int, int], at: int) -> SourceLocation:
        """The latest `.loc` of the same place, which may itself be inlined, or a new one."""
        found = self._locations.get(place)
        if found is None:
            if place[0] not in self.files:
                raise Mistake(at, f".loc names file {place[0]}, but no .file has this number")
            found = self._locations[place] = SourceLocation(self.files[place[0]], place[1], place[2])
        return found

    def _pragma(self) -> None:
        self.index += 1
        while self.texts[self.index][:1] == '"' or self.texts[self.index] == ",":
            self.index += 1
        self._end(".pragma")

    def _section(self) -> None:
        while self.texts[self.index] not in ("{", ";", ""):
            self.index += 1
        if self.texts[self.index] != "{":
            raise self.tokens.expected(self.index, "'{' of the section")
        self.index = skip_block(self.tokens, self.index)

    def _skip_line(self) -> None:
        self.index += 1
        while self.index < self.tokens.count and not self.tokens.starts_line(self.index):
            self.index += 1

    # ------------------------------------------------------------------------------------ scopes
    def _open(self) -> None:
        if len(self._opened) > _MAXIMUM_DEPTH:
            self.tokens.report(Mistake(self.index, f"more than {_MAXIMUM_DEPTH} nested scopes"))
            self.index = skip_block(self.tokens, self.index)
            return
        self.names.open_scope()
        self._opened.append(self.index)
        self._declare_labels()
        self.index += 1

    def _close(self) -> None:
        self._opened.pop()
        if self._opened:
            self.names.close_scope()
        self.index += 1

    def _declare_labels(self) -> None:
        """Labels may be used before they stand, so those of a scope are declared at its `{`."""
        texts, structure = self.texts, self.tokens.structure
        depth = 0
        for position in range(bisect_left(structure, self.index), len(structure)):
            index = structure[position]
            token = texts[index]
            if token == ":":
                if depth == 1 and is_word(texts[index - 1]):
                    self._declare_label(index - 1)
            else:
                depth += 1 if token == "{" else -1
                if depth == 0:
                    return

    def _declare_label(self, index: int) -> None:
        try:
            self.names.declare_symbol(index, self.texts[index])
        except Mistake as mistake:
            self.tokens.report(mistake)

    # ------------------------------------------------------------------------------------ mistakes
    def _reject(self, token: str) -> None:
        opened = self.tokens.line(self._opened[-1])
        if not token or token in _FUNCTION_STARTS:
            mistake = self.tokens.expected(self.index, f"'}}' for the '{{' of line {opened}")
            while self._opened:
                self._opened.pop()
            self.tokens.report(mistake)
            return
        otherwise = "an instruction, a label or a directive such as .reg"
        self.tokens.respell(self.index, self._directives, otherwise)

    def _end(self, what: str) -> None:
        if self.texts[self.index] != ";":
            raise self.tokens.expected(self.index, f"';' after {what}")
        self.index += 1

    def _recover(self, start: int) -> None:
        """Go behind the next `;`, or to the next line unless it continues this one."""
        texts = self.texts
        while texts[self.index]:
            token = texts[self.index]
            if token == ";":
                self.index += 1
                return
            if self.index > start and self.tokens.starts_line(self.index):
                if token in "{}" or token in _FUNCTION_STARTS:
                    return
                if texts[self.index - 1] not in (",", "(") and token not in ("(", ")", ","):
                    return
            self.index += 1


def rename(variable: Variable, name: str) -> Variable:
    """The variable under another name."""
    return variable if name == variable.name else replace(variable, name=name)

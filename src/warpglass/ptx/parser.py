"""PTX text to tree: the module level, function headers, and recovery.

Belongs here: what stands outside of function bodies (those are body.py; declarations.py and operands.py
serve both). A mistake is reported and parsing goes on at the next statement, so that one run names every
error; only at the end is one PtxSyntaxError raised.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

from .body import Body, parse_body, skip_block
from .constants import parse_integer
from .declarations import SPACES, parse_parameters, parse_variables, skip_parentheses
from .lexer import Mistake, Tokens, choices, shorten
from .names import Names
from .operands import is_word
from .parts import Parts
from .tree import Function, Module, Symbol, Variable

_LINKAGES = frozenset((".visible", ".extern", ".weak", ".common"))
# Where parsing goes on after a mistake outside of a function, if no `;` comes first.
_RESUME = frozenset(
    ".version .target .address_size .file .section .alias .entry .func .global .const".split()
    + list(_LINKAGES)
)
_HEADER = frozenset((".version", ".target", ".address_size"))  # these end with their line, not with `;`
_VERSION = re.compile(r"(\d{1,4})\.(\d{1,4})")
# Characters of a text from which a kernel is taken out of it before it is parsed, and of one that takes about
# a second.
_PARTED, _LONG = 1 << 15, 1 << 20


@lru_cache(maxsize=8)
def parse(text: str, name: str = "<ptx>", entry: str | None = None) -> Module:
    """Parse a PTX file; `name` is its name in messages. Raises PtxSyntaxError with every error found.

    With an `entry` the bodies of all other entries are passed over: they become declarations, or are left out
    of all but a short text with whatever else that entry does not reach. The last few modules are kept: a
    kernel is parsed when it is compiled and again by whoever runs it.
    """
    if entry is not None and len(text) > _PARTED:
        text = _parts(text).of(entry, in_place=True)
    tokens = Tokens(text, name)
    module = _ModuleParser(tokens, entry).parse()
    tokens.raise_if_any()
    return module


def parse_authored(text: str, name: str, entry: str) -> Module:
    """Parse an author's PTX for one kernel; mistakes in others are told, too, unless the text is long."""
    return parse(text, name, entry if len(text) > _LONG else None)


@lru_cache(maxsize=2)
def _parts(text: str) -> Parts:
    """A long text, of which some kernels are mostly asked for one after the other."""
    return Parts(text)


class _ModuleParser:
    """The state of parsing one module: the position, and what was found so far."""

    def __init__(self, tokens: Tokens, wanted: str | None):
        self.tokens = tokens
        self.wanted = wanted
        self.texts = tokens.texts
        self.index = 0
        self.version: tuple[int, int] | None = None
        self.target: tuple[str, ...] = ()
        self.address_size = 64
        self.files: dict[int, str] = {}
        self.aliases: dict[str, str] = {}
        self.variables: dict[str, Variable] = {}
        self.functions: dict[str, Function] = {}
        self.names: set[str] = set()
        self.unresolved: list[tuple[str, int]] = []
        self.statements: dict[str, Callable[[], None]] = {
            ".version": self._version,
            ".target": self._target,
            ".address_size": self._address_size,
            ".file": self._skip_line,
            ".section": self._section,
            ".pragma": self._pragma,
            ".alias": self._alias,
        }

    def parse(self) -> Module:
        """Parse everything; mistakes are in the tokens' diagnostics."""
        self._collect_files()
        while self.index < self.tokens.count:
            before = self.index
            try:
                self._statement()
            except Mistake as mistake:
                self.tokens.report(mistake)
                self.index = max(mistake.index, before)
                self._recover(before)
                self.tokens.lose(before, self.index)
        self._check_header()
        self._check_names()
        return Module(
            version=self.version or (0, 0),
            target=self.target,
            address_size=self.address_size,
            variables=tuple(self.variables.values()),
            functions=tuple(self.functions.values()),
            files=self.files,
            aliases=self.aliases,
        )

    # ------------------------------------------------------------------------------------ statements
    def _statement(self) -> None:
        token = self.texts[self.index]
        handler = self.statements.get(token)
        if handler is not None:
            self.index += 1
            handler()
            return
        linkage = ""
        while self.texts[self.index] in _LINKAGES:
            linkage = self.texts[self.index][1:]
            self.index += 1
        token = self.texts[self.index]
        if token in (".entry", ".func"):
            self._function(linkage)
        elif token == ".reg":
            raise Mistake(self.index, "registers are declared inside of functions")
        elif token in SPACES:
            self._variables(linkage)
        elif token == ";":
            self.index += 1
        else:
            known = [*self.statements, *SPACES, *_LINKAGES, ".entry", ".func"]
            start = "a directive such as .visible, .entry, .func or .global"
            self.tokens.respell(self.index, known, ".entry, .func or a state space" if linkage else start)

    def _recover(self, start: int) -> None:
        """Go on behind the next `;`, or at the next line that starts a declaration."""
        if self.texts[start] in _HEADER:
            self.index = max(self.index, start + 1)
            self._skip_line()
            return
        first = True
        while self.index < self.tokens.count:
            token = self.texts[self.index]
            if token == ";":
                self.index += 1
                return
            if token in _RESUME and not first and self.tokens.starts_line(self.index):
                return
            self.index = skip_block(self.tokens, self.index) if token == "{" else self.index + 1
            first = False

    def _version(self) -> None:
        match = _VERSION.fullmatch(self.texts[self.index])
        if match is None:
            raise self.tokens.expected(self.index, "a version such as 8.5")
        self.version = (int(match[1]), int(match[2]))
        self.index += 1

    def _target(self) -> None:
        target: list[str] = []
        while True:
            if not is_word(self.texts[self.index]):
                raise self.tokens.expected(self.index, "a target such as sm_90")
            target.append(self.texts[self.index])
            self.index += 1
            if self.texts[self.index] != ",":
                break
            self.index += 1
        self.target = tuple(target)

    def _address_size(self) -> None:
        at = self.index
        size, self.index = parse_integer(self.tokens, at, "32 or 64")
        if size not in (32, 64):
            raise Mistake(at, f"expected 32 or 64, found {size}")
        self.address_size = size

    def _skip_line(self) -> None:
        while self.index < self.tokens.count and not self.tokens.starts_line(self.index):
            self.index += 1

    def _section(self) -> None:
        while self.texts[self.index] not in ("{", ""):
            self.index += 1
        if not self.texts[self.index]:
            raise self.tokens.expected(self.index, "'{' of the section")
        self.index = skip_block(self.tokens, self.index)

    def _pragma(self) -> None:
        while self.texts[self.index][:1] == '"' or self.texts[self.index] == ",":
            self.index += 1
        self._expect(";", "';' after .pragma")

    def _alias(self) -> None:
        alias = self._name("the alias")
        self._expect(",", "','")
        self.unresolved.append((self.texts[self.index], self.index))
        self.aliases[alias] = self._name("a function")
        self._expect(";", "';' after .alias")
        self.names.add(alias)

    def _collect_files(self) -> None:
        """`.file` may stand behind the `.loc` that uses it, so files are read first."""
        for index, token in enumerate(self.texts):
            if token == ".file":
                number, path = self.texts[index + 1], self.texts[index + 2]
                if number.isdecimal() and len(number) < 10 and len(path) > 1 and path[0] == path[-1] == '"':
                    self.files[int(number)] = path[1:-1]
                else:
                    self.tokens.report(self.tokens.expected(index + 1, 'a number and a "path" after .file'))

    # ------------------------------------------------------------------------------------ declarations
    def _variables(self, linkage: str) -> None:
        found, self.index = parse_variables(self.tokens, self.index, linkage, self._reference)
        for at, variable in found:
            previous = self.variables.get(variable.name)
            if previous is not None and previous.linkage != "extern" and linkage != "extern":
                raise Mistake(at, f"{variable.name} is declared twice, first in line {previous.line}")
            if previous is None or linkage != "extern":
                self.variables.pop(variable.name, None)
                self.variables[variable.name] = variable
            self.names.add(variable.name)

    def _reference(self, index: int) -> Symbol:
        self.unresolved.append((self.texts[index], index))
        return Symbol(self.texts[index])

    def _function(self, linkage: str) -> None:
        entry = self.texts[self.index] == ".entry"
        self.index += 1
        names = Names(self.tokens, self.names)
        if self.texts[self.index] == ".attribute":
            self.index = skip_parentheses(self.tokens, self.index + 1)
        results = () if entry else self._parameters(names)
        at = self.index
        name = self._name("the function's name")
        self.names.add(name)
        parameters: tuple[Variable, ...] = ()
        directives: tuple[tuple[str, tuple[int, ...]], ...] = ()
        try:
            parameters = self._parameters(names)
            directives = self._directives()
            if self.texts[self.index] not in ("{", ";"):
                raise self.tokens.expected(self.index, f"'{{' or ';' after the header of {shorten(name)}")
        except Mistake as mistake:
            self.tokens.report(mistake)
            self.index = mistake.index
            self._find_body()
            self.tokens.lose(at, self.index)
        body = None
        if self.texts[self.index] == "{" and entry and self.wanted not in (None, name):
            self.index = skip_block(self.tokens, self.index)
        elif self.texts[self.index] == "{":
            body, self.index = parse_body(self.tokens, self.index, names, self.files)
        elif self.texts[self.index] == ";":
            self.index += 1
        self.unresolved.extend(names.unresolved.items())
        header = Function(
            name,
            entry,
            parameters,
            results,
            directives=directives,
            linkage=linkage,
            line=self.tokens.line(at),
        )
        self._add(at, header, names, body)

    def _find_body(self) -> None:
        """Behind a broken header: go to its `{` or `;`, if the next declaration does not come first."""
        while self.texts[self.index] not in ("{", ";", "}", "") and not (
            self.texts[self.index] in _RESUME and self.tokens.starts_line(self.index)
        ):
            self.index += 1

    def _add(self, at: int, header: Function, names: Names, body: Body | None) -> None:
        previous = self.functions.get(header.name)
        if body is None:
            if previous is None:
                self.functions[header.name] = header
            return
        if previous is not None and previous.body is not None:
            raise Mistake(at, f"{header.name} is defined twice, first in line {previous.line}")
        self.functions.pop(header.name, None)
        self.functions[header.name] = Function(
            name=header.name,
            entry=header.entry,
            parameters=header.parameters,
            results=header.results,
            registers=names.registers,
            variables=tuple(body.variables),
            body=tuple(body.statements),
            directives=(*header.directives, *body.directives),
            branch_targets=body.branch_targets,
            linkage=header.linkage,
            line=header.line,
            call_targets=body.call_targets,
            prototypes=body.prototypes,
        )

    def _parameters(self, names: Names) -> tuple[Variable, ...]:
        if self.texts[self.index] != "(":
            return ()
        parameters, self.index = parse_parameters(self.tokens, self.index)
        found: list[Variable] = []
        for at, parameter in parameters:
            if parameter.space == "reg":
                parts = names.declare_register(at, parameter.name, parameter.type, parameter.vector)
                found += [replace(parameter, name=name, vector=1) for name in parts]
            else:
                names.declare_symbol(at, parameter.name)
                found.append(parameter)
        return tuple(found)

    def _directives(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        found: list[tuple[str, tuple[int, ...]]] = []
        while self.texts[self.index][:1] == ".":
            word = self.texts[self.index]
            if word in _RESUME:
                break
            self.index += 1
            if word == ".pragma":
                self._pragma()
                continue
            values: list[int] = []
            while self.texts[self.index][:1].isdigit():
                value, self.index = parse_integer(self.tokens, self.index, "a number")
                values.append(value)
                if self.texts[self.index] == ",":
                    self.index += 1
            found.append((word[1:], tuple(values)))
        return tuple(found)

    # ------------------------------------------------------------------------------------ helpers
    def _name(self, what: str) -> str:
        name = self.texts[self.index]
        if not is_word(name) or "." in name:
            raise self.tokens.expected(self.index, what)
        self.index += 1
        return name

    def _expect(self, token: str, what: str) -> None:
        if self.texts[self.index] != token:
            raise self.tokens.expected(self.index, what)
        self.index += 1

    def _check_header(self) -> None:
        missing = [] if self.version else [".version"]
        missing += [] if self.target else [".target"]
        if missing:
            self.tokens.report(
                Mistake(0, f"a PTX file starts with .version and .target; no {choices(missing)} found")
            )

    def _check_names(self) -> None:
        for name, index in self.unresolved:
            if name not in self.names and not self.tokens.is_lost(name):
                close = (
                    difflib.get_close_matches(name, self.names, n=1, cutoff=0.8)
                    if len(self.names) < 500
                    else []
                )
                hint = f"; did you mean {close[0]}?" if close else ""
                self.tokens.report(Mistake(index, f"{shorten(name)} is not declared{hint}"))

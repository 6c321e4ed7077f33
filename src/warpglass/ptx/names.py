"""Which names mean what at a place of a function, and the renaming that makes scopes disappear.

Belongs here: special registers, and the table of registers, variables and labels of one function. Nested
`{ }` scopes (inline assembly, call sequences) vanish from the tree: a name declared in one keeps its text if
it is still free in the function and in the module, else gets a suffix, `%p` -> `%p$1`. Vector registers
vanish as well: `%v` is the vector of the registers `%v$x` and `%v$y`, its parts `%v.x` and `%v.y`.

`Names.current` maps the text of a one-token operand to that operand, so that a parser finds most operands
with one dictionary access. It caches what outer scopes say; declarations overwrite.
"""

from __future__ import annotations

import difflib
from collections.abc import Container

from .lexer import Mistake, Tokens, choices, shorten
from .tree import Component, Operand, Register, Special, Symbol, Vector

_VECTORS = ("tid", "ntid", "ctaid", "nctaid", "clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid")
_SCALARS = (
    "laneid warpid nwarpid smid nsmid gridid is_explicit_cluster cluster_ctarank cluster_nctarank "
    "lanemask_eq lanemask_le lanemask_lt lanemask_ge lanemask_gt clock clock_hi clock64 "
    "globaltimer globaltimer_lo globaltimer_hi reserved_smem_offset_begin reserved_smem_offset_end "
    "reserved_smem_offset_cap reserved_smem_offset_0 reserved_smem_offset_1 total_smem_size aggr_smem_size "
    "dynamic_smem_size current_graph_exec"
).split()

# Every special register of the PTX manual (ISA 9.x), https://docs.nvidia.com/cuda/parallel-thread-execution
SPECIAL_REGISTERS: frozenset[str] = frozenset(
    ["WARP_SZ"]
    + [f"%{name}" for name in (*_VECTORS, *_SCALARS)]
    + [f"%{name}.{part}" for name in _VECTORS for part in "xyzw"]
    + [f"%pm{number}{width}" for number in range(8) for width in ("", "_64")]
    + [f"%envreg{number}" for number in range(32)]
)

# The names of a vector register's parts, by their place.
_PARTS = {selector: place for selectors in ("xyzw", "rgba") for place, selector in enumerate(selectors)}

MAXIMUM_REGISTERS = 1 << 20  # per function; more can only be a slip in `%r<...>`


class Names:
    """The names of one function while its header and body are parsed."""

    def __init__(self, tokens: Tokens, module_names: Container[str]):
        self.tokens = tokens
        self.registers: dict[str, str] = {}  # unique name -> type
        self.unresolved: dict[str, int] = {}  # names that only the module can declare -> first use
        self.current: dict[str, Operand] = {}
        self._module_names = module_names
        self._scopes: list[tuple[dict[str, Operand], set[str]]] = [(self.current, set())]
        self._taken: set[str] = set()
        self._suffixes: dict[str, int] = {}

    @property
    def depth(self) -> int:
        """How many nested scopes are open: 0 at the level of the function."""
        return len(self._scopes) - 1

    def open_scope(self) -> None:
        """Enter a nested `{`."""
        self.current = {}
        self._scopes.append((self.current, set()))

    def close_scope(self) -> None:
        """Leave a nested scope at its `}`."""
        self._scopes.pop()
        self.current = self._scopes[-1][0]

    def declare_register(self, index: int, name: str, type_: str, vector: int = 1) -> tuple[str, ...]:
        """Add a register of the innermost scope, or those of a vector; return their unique names."""
        unique = self._unique(index, name)
        if vector == 1:
            self.registers[unique] = type_
            self.current[name] = Register(unique)
            return (unique,)
        parts = tuple(self._unique(index, f"{unique}${selector}") for selector in "xyzw"[:vector])
        self.registers.update(dict.fromkeys(parts, type_))
        self.current[name] = Vector(tuple(map(Register, parts)))
        return parts

    def declare_range(self, index: int, prefix: str, count: int, type_: str, vector: int = 1) -> None:
        """Add the registers of `prefix<count>`."""
        if count + len(self.registers) > MAXIMUM_REGISTERS:
            raise Mistake(index, f"more than {MAXIMUM_REGISTERS} registers in one function")
        for number in range(count):
            self.declare_register(index, f"{prefix}{number}", type_, vector)

    def declare_symbol(self, index: int, name: str) -> str:
        """Add a variable or label of the innermost scope and return its unique name."""
        unique = self._unique(index, name)
        self.current[name] = Symbol(unique)
        return unique

    def resolve(self, index: int) -> Operand:
        """What the word at a token names; an undeclared register is reported once."""
        name = self.tokens.texts[index]
        found = self._lookup(name)
        if found is None:
            found = self._resolve_component(name, index)
        if found is None and (name[0] == "%" or "." in name):
            if not self.tokens.is_lost(name) and not self.tokens.is_lost(name.partition(".")[0]):
                self.tokens.report(Mistake(index, self._explain(name)))
            found = Register(name)
        elif found is None:
            self.unresolved.setdefault(name, index)
            found = Symbol(name)
        self.current[name] = found
        return found

    def _lookup(self, name: str) -> Operand | None:
        for scope, _ in reversed(self._scopes):
            if (found := scope.get(name)) is not None:
                return found
        return Special(name) if name in SPECIAL_REGISTERS else None

    def _resolve_component(self, name: str, index: int) -> Operand | None:
        base, dot, selector = name.partition(".")
        register = self._lookup(base) if dot else None
        if isinstance(register, Vector):
            place = _PARTS.get(selector, len(register.elements))
            if place < len(register.elements):
                return register.elements[place]
            known = choices([f".{one}" for one in "xyzw"[: len(register.elements)]])
            raise Mistake(index, f"{shorten(name)} is no part of the vector register {base}; it has {known}")
        if isinstance(register, Register):
            return Component(register, selector)
        if isinstance(register, Special):
            raise Mistake(
                index, f"{shorten(name)} has no such part (.x, .y, .z and .w of %tid and the like exist)"
            )
        return None

    def _explain(self, name: str) -> str:
        close = difflib.get_close_matches(name, SPECIAL_REGISTERS, n=1, cutoff=0.8)
        hint = f"; did you mean {close[0]}?" if close else ", and it is no special register"
        return f"register {shorten(name)} is not declared{hint}"

    def _unique(self, index: int, name: str) -> str:
        declared = self._scopes[-1][1]
        if name in declared:
            raise Mistake(index, f"{shorten(name)} is declared twice")
        if name in SPECIAL_REGISTERS:
            raise Mistake(index, f"{name} is a special register and cannot be declared")
        declared.add(name)
        unique = name
        while unique in self._taken or (self.depth and unique in self._module_names):
            self._suffixes[name] = self._suffixes.get(name, 0) + 1
            unique = f"{name}${self._suffixes[name]}"
        self._taken.add(unique)
        return unique

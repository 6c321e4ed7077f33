"""What became of each memory instruction: kept, removed, or merged with its neighbours.

Belongs here: pairing PTX memory instructions with machine ones. ptxas merges accesses of neighbouring
addresses that differ by constants (four ld.shared become one LDS.128, in the line of one of them), drops
loads whose value it has, and keeps local arrays in registers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ..program import Program
from ..ptx import tree
from .decode import Instruction

_KINDS = ("load", "store", "atomic", "reduction")  # those of operations.py that PTX lines become


@dataclass(frozen=True, slots=True)
class Access:
    """One PTX memory instruction and its machine counterpart.

    `space` is as written ("generic" if not at all), `access` load, store, atomic or reduction, `size` the
    bytes of each thread. `leader` is the line that the machine access carries: the instruction's own if it
    was kept, another one's if it was merged with that, None if it was removed. Of a leader, `width` is the
    bytes that each thread accesses at once, `members` the lines merged into it with their distance in bytes
    from the first one, itself included, and `machine` the operation ("LDS", "ATOMG").
    """

    line: int
    space: str
    access: str
    size: int
    leader: int | None = None
    width: int = 0
    members: tuple[tuple[int, int], ...] = ()
    machine: str = ""

    @property
    def removed(self) -> bool:
        """Whether no machine instruction makes this access."""
        return self.leader is None

    @property
    def merged(self) -> bool:
        """Whether the machine access serves other PTX lines too."""
        return len(self.members) > 1 or self.leader not in (None, self.line)


@dataclass(frozen=True, slots=True)
class _Origin:
    """Where an instruction accesses memory, as far as its text says."""

    block: int
    base: tree.Operand
    offset: int


def find_accesses(program: Program, code: Iterable[Instruction]) -> Mapping[int, Access]:
    """Return what became of every memory instruction of a kernel, by PTX line."""
    machine: dict[int, list[Instruction]] = {}
    for item in code:
        if item.access:
            machine.setdefault(item.line, []).append(item)
    found: dict[int, Access] = {}
    origins: dict[int, _Origin] = {}
    sums = _sums(program)
    for number, block in enumerate(program.blocks):
        for step in block.steps:
            access = step.match.access
            if access is None or access.kind not in _KINDS or access.space == "const":
                continue
            line, address = step.instruction.line, step.address
            origins[line] = _origin(number, address.base, address.offset, sums)
            found[line] = _keep(Access(line, access.space, access.kind, access.size), machine.get(line, ()))
    for line, access in list(found.items()):
        if access.width > access.size and access.access in ("load", "store") and line in origins:
            _merge(line, found, origins)
    return found


def _sums(program: Program) -> Mapping[str, tuple[tree.Operand, int]]:
    """Registers that are nothing but another one and a constant, by name."""
    writes = Counter(name for block in program.blocks for step in block.steps for name in step.writes)
    found: dict[str, tuple[tree.Operand, int]] = {}
    for block in program.blocks:
        for step in block.steps:
            item = step.instruction
            if step.match.row.operation != "sum" or item.guard is not None:
                continue
            match item.operands:
                case (tree.Register(name), tree.Register() as base, tree.Integer(value)) if (
                    writes[name] == 1 and writes[base.name] == 1
                ):
                    found[name] = base, value
                case _:
                    pass
    return found


def _origin(
    block: int, base: tree.Operand, offset: int, sums: Mapping[str, tuple[tree.Operand, int]]
) -> _Origin:
    """The same from the register that others are sums of."""
    while isinstance(base, tree.Register) and base.name in sums:
        base, more = sums[base.name]
        offset += more
    return _Origin(block, base, offset)


def _keep(access: Access, machine: Sequence[Instruction]) -> Access:
    if not machine:
        return access
    widest = max(machine, key=lambda item: item.width)
    if access.access in ("atomic", "reduction"):
        widest = next((item for item in machine if item.access in ("atomic", "reduction")), widest)
    return replace(
        access,
        leader=access.line,
        width=max(widest.width, access.size) if access.access not in ("load", "store") else widest.width,
        members=((access.line, 0),),
        machine=widest.name if widest.access != "reduction" else "RED",
    )


def _merge(leader: int, found: dict[int, Access], origins: Mapping[int, _Origin]) -> None:
    """Find the lines that one wide access serves: a window of its width without gaps around the leader."""
    own, origin = found[leader], origins[leader]
    near = {
        origins[line].offset: line
        for line, access in found.items()
        if line in origins
        and (access.space, access.access, access.size) == (own.space, own.access, own.size)
        and (origins[line].block, origins[line].base) == (origin.block, origin.base)
        and (access.removed or line == leader)
    }
    count = own.width // own.size
    windows = [
        [start + own.size * index for index in range(count)]
        for start in range(origin.offset - own.width + own.size, origin.offset + own.size, own.size)
    ]
    # An aligned window is likelier where several would do.
    windows.sort(key=lambda window: window[0] % own.width != 0)
    window = next((window for window in windows if all(offset in near for offset in window)), None)
    if window is None:
        return
    members = tuple((near[offset], offset - window[0]) for offset in window)
    for line, _ in members:
        found[line] = replace(found[line], leader=leader)
    found[leader] = replace(found[leader], members=members)

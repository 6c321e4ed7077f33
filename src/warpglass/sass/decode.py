"""Reading machine instructions of compute capabilities 7.5 to 12.x, as far as counting them needs.

Belongs here: the layout of the 128-bit instruction word. What the operations are called and do are the rows
of operations.py. NVIDIA documents neither; both were found by comparing with nvdisasm, and
tests/sass/test_decode.py repeats the comparison where it is installed.

    bits 0..8     operation; 9..11 the kinds of its operands
    bits 12..15   guard: predicate register (7 is always true), and whether it is negated
    bits 16..23   register that a result goes to (255 is none)
    bits 73..75   width of a memory access
    bits 105..108 clocks until the warp's next instruction may be issued
    bits 110..112 scoreboard that the result will clear (7 is none), 113..115 the same for its operands
    bits 116..121 scoreboards that must be clear before it is issued

Of a branch, bits 32..33 say whether it asks a uniform predicate (bits 24..27) or whether threads have
parted, bits 87..90 are a second predicate, and bits 34..81 the distance from the next instruction in units of
4 bytes, which from compute capability 9.0 on has its lowest eight bits in bits 16..23.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .operations import Operation, find

SIZE = 16  # bytes of an instruction
_TRUE = 7
_NO_REGISTER = 255
_NO_SCOREBOARD = 7
_WIDTHS = (1, 1, 2, 2, 4, 8, 16, 32)  # U8, S8, U16, S16, 32, 64, 128 and, on 10.0, 256 bits


@dataclass(frozen=True, slots=True)
class Instruction:
    """One machine instruction.

    `line` is the PTX line that it was made from, 0 if unknown. `guard` is its predicate register, None where
    all active threads run it. `width` is the bytes that each thread accesses, 0 if it accesses no memory.
    `target` is the offset that a branch may go to, None for other instructions and where registers say it.
    `conditional` tells whether threads may pass it by; `parted` whether a branch is taken by warps whose
    threads have parted (True) or have not (False); `wasted` whether nobody wants its result.
    `stall` are the clocks until the next instruction. `result_board` is the scoreboard that it holds until
    its result is there, `operand_board` that until its operands have been read, `waits` a mask of those that
    it waits for.
    """

    offset: int
    line: int
    operation: Operation
    guard: int | None = None
    negated: bool = False
    width: int = 0
    target: int | None = None
    conditional: bool = False
    parted: bool | None = None
    wasted: bool = False
    stall: int = 1
    result_board: int | None = None
    operand_board: int | None = None
    waits: int = 0

    @property
    def name(self) -> str:
        """The operation without its modifiers: "LDS", "FFMA"."""
        return self.operation.name

    @property
    def never(self) -> bool:
        """Whether its guard never holds."""
        return self.guard == _TRUE

    @property
    def access(self) -> str:
        """What it does to memory: "load", ...; an atomic operation without a result is a "reduction"."""
        access = self.operation.access
        return (
            "reduction" if access == "atomic" and self.wasted and self.operation.space != "shared" else access
        )


def decode(code: bytes, lines: Mapping[int, int], capability: int) -> tuple[Instruction, ...]:
    """Decode a section of code; `lines` has the PTX line at each offset where one begins.

    `capability` is the target's, such as 90.
    """
    found: list[Instruction] = []
    line = 0
    for offset in range(0, len(code) // SIZE * SIZE, SIZE):
        line = lines.get(offset, line)
        found.append(
            _decode(int.from_bytes(code[offset : offset + SIZE], "little"), offset, line, capability)
        )
    return tuple(found)


def _decode(word: int, offset: int, line: int, capability: int) -> Instruction:
    operation = find(word & 0x1FF, capability)
    guard, negated = word >> 12 & 7, bool(word >> 15 & 1)
    guarded = guard != _TRUE or negated
    branch = operation.control == "branch"
    return Instruction(
        offset=offset,
        line=line,
        operation=operation,
        guard=guard if guarded else None,
        negated=negated,
        width=_WIDTHS[word >> 73 & 7] if operation.space else 0,
        target=_target(word, offset, capability) if branch else None,
        conditional=guarded or (branch and _asks(word)),
        parted={2: True, 3: False}.get(word >> 32 & 3) if branch else None,
        wasted=word >> 16 & 0xFF == _NO_REGISTER,
        stall=max(1, word >> 105 & 15),
        result_board=_scoreboard(word >> 110 & 7),
        operand_board=_scoreboard(word >> 113 & 7),
        waits=word >> 116 & 63,
    )


def _scoreboard(number: int) -> int | None:
    return None if number == _NO_SCOREBOARD else number


def _asks(word: int) -> bool:
    """Whether a branch without a guard has another condition."""
    form = word >> 32 & 3  # 0 none, 1 a uniform predicate, 2 and 3 whether threads have parted
    if form == 1:
        return word >> 24 & 0xF != _TRUE
    return form > 1 or word >> 87 & 0xF != _TRUE


def _target(word: int, offset: int, capability: int) -> int:
    distance = word >> 34 & (1 << 48) - 1
    if distance >> 47:
        distance -= 1 << 48
    if capability >= 90:
        distance = distance << 8 | word >> 16 & 0xFF
    return offset + SIZE + 4 * distance

"""The register file of a warp in generated code: where each PTX register stands, reading and writing it.

A register's home is a stack slot, which LLVM turns into SSA values: a scalar for registers of uniform or
affine kind, a vector of all lanes for the others, nothing at all for constants. Across barriers the live ones
are kept in the warp's frame.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from ..isa.types import BITS, LLVM_TYPE
from .builder import Builder, Deferred
from .values.value import Line, Value, literal, replace

# Homes times basic blocks up to which homes may become values: each may need a phi in each block. A kernel
# that spins, with 5,500 blocks and 480 homes, would have 250,000 of them and take LLVM five minutes.
_MOST_PHIS = 1_000_000
# Hides from LLVM where homes lie that are to stay in memory, so that it leaves them there.
IN_MEMORY = "define internal noalias ptr @wg_homes(ptr %memory) noinline optnone #0 {\n  ret ptr %memory\n}\n"

# A register and "", ".ok" or ".lanes".
Part = tuple[str, str]


class Registers:
    """Homes of all registers.

    `kinds` gives what is known of each wherever it is read, as a value without names; of those that are not
    there nothing is.
    """

    prefix = "%home"  # of the names of homes

    def __init__(self, builder: Builder, types: Mapping[str, str], kinds: Mapping[str, Value]):
        self.builder = builder
        self.types = {name: LLVM_TYPE[type_] for name, type_ in types.items()}
        self.kinds = kinds
        self.used: dict[Part, str] = {}  # part of a register -> home
        self._frame: dict[Part, int] = {}
        self._restored: Mapping[str, frozenset[int]] = {}  # where registers are that share slots of the frame
        # By bytes: the frame's slots, and where all that share one are restored.
        self._saved: defaultdict[int, dict[int, set[int]]] = defaultdict(dict)
        self._fresh: dict[str, Value] = {}  # what this basic block has written
        self._live: frozenset[str] = frozenset()  # registers that are read after it
        self.frame_size = 0
        self.in_memory = False  # whether homes stay there

    def kind(self, name: str) -> Value:
        """A register's kind."""
        return self.kinds.get(name) or Value(self.types[name], "")

    def stored(self, name: str) -> bool:
        """Whether a register needs a home: what a warp's number decides does not."""
        kind = self.kind(name)
        return kind.offsets is None or (kind.constant is None and kind.line is None)

    def enter(self, live: frozenset[str]) -> None:
        """A basic block of the program begins; `live` are the registers that are read after it."""
        self._fresh.clear()
        self._live = live

    def settle(self) -> None:
        """Let the homes hold all that this basic block has written, for code that does not know of it."""
        for name in list(self._fresh):
            self._spill(name)

    def read(self, name: str) -> Value:
        """A register's current value."""
        kind = self.kind(name)
        if not self.stored(name):
            return replace(kind, ir=line_text(self.builder, kind.type, kind.line)) if kind.line else kind
        fresh = self._fresh.get(name)
        if fresh is not None:
            return replace(kind, ir=fresh.ir, ok=fresh.ok, lanes=fresh.lanes)
        text, *guard = [self._load(part, self.home(part)) for part in self.parts(name)]
        if not guard:
            return replace(kind, ir=text)
        ok, lanes = guard
        return replace(kind, ir=text, ok=ok, lanes=Deferred(self.builder, lambda: lanes))

    @property
    def written(self) -> Mapping[str, Value]:
        """What this basic block has written, as far as it is known by its names."""
        return self._fresh

    def lives(self, name: str) -> bool:
        """Whether a register is read after this basic block."""
        return name in self._live

    def write_late(self, name: str, value: Value) -> None:
        """Set a register to what only this basic block may read; it must be written again before the end."""
        self._fresh[name] = value

    def write(self, name: str, value: Value, keep: str | None = None) -> None:
        """Set a register's lanes; `keep` names the mask of the lanes to write if others must stay.

        The value has the form of the register's kind.
        """
        if not self.stored(name):
            return
        text = value.ir
        if keep is not None:
            old = (
                self._fresh[name].ir if name in self._fresh else self._load((name, ""), self.home((name, "")))
            )
            text = self._blend(name, keep, text, old)
        self._fresh[name] = replace(value, ir=text)
        if name not in self._live:
            return
        for part, new in zip(self.parts(name), self._texts(name, value, text), strict=True):
            self._store(part, new, self.home(part))

    def _blend(self, name: str, mask: str, new: str, old: str) -> str:
        """A register's new lanes where a mask has them, its old ones elsewhere."""
        b = self.builder
        whole = b.vector(self.types[name])
        return b.value(f"select {b.vector('i1')} {b.mask_vector(mask)}, {whole} {new}, {whole} {old}")

    def write_if(self, name: str, value: Value, condition: str) -> None:
        """Set a scalar register if an i1 holds."""
        if not self.stored(name):
            return
        self._spill(name)
        for part, new in zip(self.parts(name), self._texts(name, value, value.ir), strict=True):
            whole = self.builder.vector("i1") if self._vector_predicate(part) else self.storage(part)
            old = self._load(part, self.home(part))
            chosen = self.builder.value(f"select i1 {condition}, {whole} {new}, {whole} {old}")
            self._store(part, chosen, self.home(part))

    def _spill(self, name: str) -> None:
        """Let a register's home hold what this block has written."""
        fresh = self._fresh.pop(name, None)
        if fresh is not None:
            for part, new in zip(self.parts(name), self._texts(name, fresh, fresh.ir), strict=True):
                self._store(part, new, self.home(part))

    def _texts(self, name: str, value: Value, text: str) -> tuple[str, ...]:
        """What the parts of a register become."""
        if self.kind(name).ok is None:
            return (text,)
        assert value.ok is not None, "a guarded register takes guarded values"
        assert value.lanes is not None
        return text, value.ok, value.lanes()

    def parts(self, name: str) -> tuple[Part, ...]:
        """What a register consists of: one value or, if guarded, the scalar, its guard and the lanes."""
        if self.kind(name).ok is not None:
            return (name, ""), (name, ".ok"), (name, ".lanes")
        return ((name, ""),)

    def home(self, part: Part) -> str:
        """The stack slot of a part of a register."""
        text = "".join(letter if letter.isalnum() else "_" for letter in part[0])
        return self.used.setdefault(part, f"{self.prefix}{len(self.used)}{text}{part[1]}")

    def put_whole(self, name: str, text: str) -> None:
        """Let the home of a register that has a plain form hold an LLVM value."""
        self._store((name, ""), text, self.home((name, "")))

    def read_whole(self, name: str) -> str:
        """What the home of such a register holds."""
        return self._load((name, ""), self.home((name, "")))

    # ------------------------------------------------------------------------------------ frames
    def share_frame(self, restored: Mapping[int, frozenset[str]]) -> None:
        """Let registers that no place restores together share a slot of the frame.

        `restored` are the registers by places: where one is not restored, its slot is free.
        """
        places: defaultdict[str, set[int]] = defaultdict(set)
        for place, names in restored.items():
            for name in names:
                places[name].add(place)
        self._restored = {name: frozenset(own) for name, own in places.items()}

    def save(self, names: Iterable[str], mask: str | None = None) -> None:
        """Keep registers in the warp's frame; only the lanes of `mask` if others wait there already."""
        for part in self._kept(names):
            value = self._load(part, self.home(part))
            place = self._place(part)
            if mask is not None and self.kind(part[0]).offsets is None:
                value = self._blend(part[0], mask, value, self._load(part, place))
            self._store(part, value, place)

    def restore(self, names: Iterable[str]) -> None:
        """Take registers back from the warp's frame."""
        for part in self._kept(names):
            self._store(part, self._load(part, self._place(part)), self.home(part))

    def _kept(self, names: Iterable[str]) -> Iterable[Part]:
        return (part for name in sorted(names) if self.stored(name) for part in self.parts(name))

    def _place(self, part: Part) -> str:
        if part not in self._frame:
            self._frame[part] = self._slot(self._bytes(part), self._restored.get(part[0], frozenset()))
        return self.builder.offset("%frame", self._frame[part])

    def _slot(self, size: int, restored: frozenset[int]) -> int:
        """A slot for what is restored at some places, its own if these are not known."""
        slots = self._saved[size]
        for place, others in slots.items():
            if restored and others.isdisjoint(restored):
                others |= restored
                return place
        place = -(-self.frame_size // size) * size
        self.frame_size = place + size
        if restored:
            slots[place] = set(restored)
        return place

    # ------------------------------------------------------------------------------------ storage
    def _vector_predicate(self, part: Part) -> bool:
        name, which = part
        return self.types[name] == "i1" and (self.kind(name).offsets is None or which == ".lanes")

    def storage(self, part: Part) -> str:
        """The LLVM type of a home: predicates of all lanes are the bits of an integer."""
        name, which = part
        if self._vector_predicate(part):
            return self.builder.lanes
        if which == ".ok":
            return "i1"
        scalar = self.kind(name).offsets is not None and which == ""
        return self.types[name] if scalar else self.builder.vector(self.types[name])

    def _bytes(self, part: Part) -> int:
        storage = self.storage(part)
        if self._vector_predicate(part):
            return self.builder.width // 8
        if storage in BITS:
            return max(1, BITS[storage] // 8)
        return BITS[self.types[part[0]]] // 8 * self.builder.width

    def _load(self, part: Part, pointer: str) -> str:
        text = self.builder.load(self.storage(part), pointer)
        return self.builder.mask_vector(text) if self._vector_predicate(part) else text

    def _store(self, part: Part, text: str, pointer: str) -> None:
        if self._vector_predicate(part):
            text = self.builder.mask_bits(text)
        self.builder.store(self.storage(part), text, pointer)

    def declare(self, blocks: int = 0) -> list[str]:
        """The homes of all registers used, zeroed so that runs repeat whatever a kernel reads.

        `blocks` is how many basic blocks of LLVM use them. Where values for all homes would need too many
        phis, homes stay in memory, which no other pointer is said to reach.
        """
        if len(self.used) * blocks > _MOST_PHIS:
            return self._declare_in_memory()
        lines: list[str] = []
        for part, home in sorted(self.used.items()):
            storage = self.storage(part)
            lines.append(f"  {home} = alloca {storage}, align {min(64, self._bytes(part))}")
            lines.append(f"  store {storage} zeroinitializer, ptr {home}")
        return lines

    def _declare_in_memory(self) -> list[str]:
        lines: list[str] = []
        size = 0
        for part, home in sorted(self.used.items()):
            lines.append(f"  {home} = getelementptr i8, ptr %homes, i64 {size}")
            size += -(-self._bytes(part) // 64) * 64
        self.in_memory = True
        return [
            f"  %homes.memory = alloca [{size} x i8], align 64",
            "  %homes = call noalias align 64 ptr @wg_homes(ptr %homes.memory)",
            f"  call void @llvm.memset.p0.i64(ptr align 64 %homes, i8 0, i64 {size}, i1 false)",
            *lines,
        ]


def line_text(b: Builder, type_: str, line: Line) -> str:
    """A scalar that the warp's number decides."""
    width = BITS[type_]
    step, start = (literal(type_, part, width) for part in line)
    if line[0] == 0:
        return start
    warp = "%warp"
    if type_ != "i32":
        warp = b.value(f"{'zext' if width > 32 else 'trunc'} i32 %warp to {type_}")
    scaled = warp if line[0] == 1 else b.value(f"mul {type_} {warp}, {step}")
    return scaled if line[1] == 0 else b.value(f"add {type_} {scaled}, {start}")

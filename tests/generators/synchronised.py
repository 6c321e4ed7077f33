"""Random programs of threads that synchronise by flags, masks and barriers, and a judge of their races.

One kernel runs any program of a `Dialect`: rows of steps, in which each thread has an operation of its own
and a place. Places are a few bytes of global and shared memory, so that much meets; each operation on each
place has a source line of its own. The judge has a whole vector clock for each thread and compares every two
accesses. What it takes from a run is which update of a counter came first, which the values that updates
returned tell; a flag is set once, and who waits for it goes on behind that.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

WARP = 32
FLAGS, COUNTERS = 24, 2
PLACES = ("g[0]", "g[1]", "s[0]", "s[1]", "c[0]")  # 4-byte words; the last is a counter

# How each access is written; {p} is the word, and what it does to which bytes of it.
_ACCESSES = {
    "read": "total += {p};",
    "write": "{p} = id;",
    "byte_read": "total += ((char*)&{p})[1];",
    "byte_write": "((char*)&{p})[1] = id;",
    "volatile_read": "total += *(volatile int*)&{p};",
    "volatile_write": "*(volatile int*)&{p} = id;",
    "update": "red(&{p});",
    "block_update": "red_block(&{p});",
}
_PAIRS = {"pair_read": "total += both({p});", "pair_write": "set_both({p}, id);"}


class Form(NamedTuple):
    """What an access does: its bytes from the word's first, and how."""

    first: int
    size: int
    write: bool
    strength: str  # "", "volatile", "device" or "block"


_FORMS = {
    "read": Form(0, 4, False, ""),
    "write": Form(0, 4, True, ""),
    "byte_read": Form(1, 1, False, ""),
    "byte_write": Form(1, 1, True, ""),
    "volatile_read": Form(0, 4, False, "volatile"),
    "volatile_write": Form(0, 4, True, "volatile"),
    "update": Form(0, 4, True, "device"),
    "block_update": Form(0, 4, True, "block"),
    **dict.fromkeys(("count", "relaxed_count"), Form(0, 4, True, "device")),
    "pair_read": Form(0, 8, False, ""),
    "pair_write": Form(0, 8, True, ""),
}

_FLAG = '[%0], 1;" :: "l"(flags + place) : "memory");'
_UNTIL = '%0, [%1];" : "=r"(f) : "l"(flags + place) : "memory"); while (!f); }'
_NEXT = '%0, [%1], 1;" : "=r"(log[step * threads + id]) : "l"(c + place) : "memory");'
SYNCHRONISING = {
    "none": "",
    "release": f'asm volatile("st.release.gpu.global.u32 {_FLAG}',
    "block_release": f'asm volatile("st.release.cta.global.u32 {_FLAG}',
    "store": f'asm volatile("st.relaxed.gpu.global.u32 {_FLAG}',
    "acquire": f'{{ unsigned f; do asm volatile("ld.acquire.gpu.global.u32 {_UNTIL}',
    "load": f'{{ unsigned f; do asm volatile("ld.relaxed.gpu.global.u32 {_UNTIL}',
    "fence": "__threadfence();",
    "block_fence": "__threadfence_block();",
    "count": f'asm volatile("atom.acq_rel.gpu.global.add.u32 {_NEXT}',
    "relaxed_count": f'asm volatile("atom.relaxed.gpu.global.add.u32 {_NEXT}',
}
COUNTS = ("count", "relaxed_count")
ACCESSES = (*_ACCESSES, *_PAIRS)


@dataclass(frozen=True)
class Dialect:
    """The operations of some programs; each has a kernel."""

    accesses: tuple[str, ...]
    flags: bool = False
    near: bool = False  # fences and releases of the block's scope
    masks: bool = False
    named: bool = False  # barriers of some warps

    @property
    def synchronising(self) -> tuple[str, ...]:
        """Operations of single threads that order others."""
        if not self.flags:
            return ("none",)
        near = ("block_release", "block_fence") if self.near else ()
        return ("none", "release", "store", "acquire", "load", "fence", "count", "relaxed_count", *near)

    @property
    def operations(self) -> tuple[tuple[str, str], ...]:
        """Every operation with its place, by number."""
        single = [(name, "") for name in self.synchronising]
        return (*single, *((name, place) for place in PLACES for name in self.accesses if _fits(name, place)))

    @property
    def text(self) -> str:
        """The kernel."""
        cases: list[str] = []
        for number, (name, place) in enumerate(self.operations):
            does = _statement(name, place) if place else SYNCHRONISING[name]
            cases.append(f"            case {number}: {does} break;  // {name} {place}".rstrip())
        barriers = "            case 2: __syncwarp(mask); break;\n"
        barriers += "            case 3: total += __shfl_sync(mask, total, threadIdx.x % 32); break;\n"
        if not self.masks:
            barriers = "            case 2: case 3: __syncwarp(); break;\n"
        if self.named:
            named = 'asm volatile("bar.sync %0, %1;" :: "r"(place), "r"(mask) : "memory");'
            barriers += f"            case 4: {named} break;\n"
        return (
            'extern "C" __global__ void k(int* g, unsigned* flags, unsigned* c, unsigned* log, int* out,\n'
            "        const int* operations, const int* places, const int* kinds, const unsigned* masks,\n"
            "        int steps) {\n"
            "    __shared__ alignas(8) int s[2];\n"
            "    int threads = gridDim.x * blockDim.x, total = 0;\n"
            "    int id = blockIdx.x * blockDim.x + threadIdx.x;\n"
            "    if (threadIdx.x == 0) *(int2*)s = make_int2(0, 0);\n"
            "    __syncthreads();\n"
            "    for (int step = 0; step < steps; step++) {\n"
            "        int place = places[step * threads + id];\n"
            "        unsigned mask = masks[step * threads + id];\n"
            "        total += 0 * (place + mask);\n"
            "        switch (kinds[step * threads + id]) {\n"
            "            case 1: __syncthreads(); break;\n"
            f"{barriers}"
            "            case 0: switch (operations[step * threads + id]) {\n"
            + "\n".join(cases)
            + "\n            } break;\n        }\n    }\n    out[id] = total;\n}\n"
        )

    @property
    def lines(self) -> dict[tuple[str, str], int]:
        """The source line of each access."""
        marks = {
            line.split("// ")[1]: number
            for number, line in enumerate(self.text.splitlines(), start=1)
            if "// " in line
        }
        return {one: marks[" ".join(one).strip()] for one in self.operations if one[1] or one[0] in COUNTS}


def _fits(name: str, place: str) -> bool:
    """Whether an access goes to a word: those of two words begin at the first, counters are only read."""
    if place[0] == "c":
        return name in ("read", "byte_read", "volatile_read")
    return "[0]" in place or name not in _PAIRS


def _statement(name: str, place: str) -> str:
    array = place[0]
    space = "global" if array == "g" else "shared"
    pointer = f'"l"(&{place})' if array == "g" else f'"r"((unsigned)__cvta_generic_to_shared(&{place}))'
    updates = {"update": "gpu", "block_update": "cta"}
    if name in updates:
        scope = updates[name]
        return f'asm volatile("red.relaxed.{scope}.{space}.add.u32 [%0], 1;" :: {pointer} : "memory");'
    pairs = {
        "pair_read": f"{{ int2 v = *(int2*){array}; total += v.x ^ v.y; }}",
        "pair_write": f"*(int2*){array} = make_int2(id, id);",
    }
    return pairs.get(name) or _ACCESSES[name].format(p=place)


# ---------------------------------------------------------------------------------------- programs
ACCESS, BLOCK_BARRIER, WARP_BARRIER, SHUFFLE, NAMED_BARRIER = range(5)


@dataclass(frozen=True)
class Program:
    """By step and thread: the kind of step, the operation, the place, the mask or the number of threads."""

    dialect: Dialect
    blocks: int
    block: int
    kinds: np.ndarray
    operations: np.ndarray
    places: np.ndarray
    masks: np.ndarray

    @property
    def threads(self) -> int:
        """Of the launch."""
        return self.blocks * self.block


def random_program(dialect: Dialect, rng: random.Random) -> Program:
    """A program in which every flag is set once, before the steps that wait for it."""
    blocks, block = rng.choice([(1, 32), (1, 64), (1, 96), (2, 32), (2, 64), (3, 32)])
    steps, threads = rng.randint(3, 14), blocks * block
    shape = (steps, threads)
    kinds, operations, places = (np.zeros(shape, np.int32) for _ in range(3))
    masks = np.zeros(shape, np.uint32)
    program = Program(dialect, blocks, block, kinds, operations, places, masks)
    names = dialect.operations
    number = {one: index for index, one in enumerate(names)}
    if rng.random() < 0.4 and (dialect.flags or dialect.masks or dialect.named):
        _gather(program, rng, number)
        return program
    accesses = rng.sample([index for index, one in enumerate(names) if one[1]], rng.randint(1, 4))
    crowd = rng.sample(range(threads), min(threads, rng.choice([2, 3, 4, 6, 10])))
    unset, set_by = list(range(FLAGS)), dict[int, tuple[int, bool]]()
    for step in range(steps):
        if rng.random() < 0.25:
            _barrier(program, step, rng)
            continue
        acting = rng.sample(crowd, rng.randint(1, len(crowd)))
        ready = dict(set_by)
        for thread in acting:
            chosen = rng.random()
            if not dialect.flags or chosen < 0.4:
                operations[step, thread] = rng.choice(accesses)
                continue
            _synchronise(program, step, thread, rng, unset, set_by, ready, number)
    return program


def _gather(program: Program, rng: random.Random, number: Mapping[tuple[str, str], int]) -> None:
    """Some come to a place, and one more behind all but one or all of them."""
    dialect, steps = program.dialect, len(program.kinds)
    by_flag = dialect.flags and (rng.random() < 0.7 or not (dialect.masks or dialect.named))
    word = rng.choice(PLACES[:4])
    at_word = [index for (name, place), index in number.items() if place == word]
    first = 0 if by_flag and rng.random() < 0.5 else program.threads - program.block
    size = WARP if dialect.masks and not by_flag else program.block
    crowd = rng.sample(range(first, first + size), rng.randint(2, 7))
    last, others = crowd[0], crowd[1:]
    if by_flag and first + program.block < program.threads:
        last = rng.randrange(first, program.threads)
        others = [one for one in others if one != last]
    many, end = rng.choice(at_word), steps - 1
    for one in others:
        program.operations[rng.randrange(0, max(1, steps - 2)), one] = rng.choice(
            [many, many, many, rng.choice(at_word)]
        )
    program.operations[end, last] = rng.choice(at_word)
    left_out = rng.choice([None, *others])
    if by_flag:
        _gather_by_flags(program, rng, number, [one for one in others if one != left_out], last)
        return
    for kind, met in _meetings(program, rng, [one for one in crowd if one != left_out] + [last]):
        program.operations[end - 1, met] = 0
        program.kinds[end - 1, met] = kind
        lanes = sum(1 << one % WARP for one in met)
        program.masks[end - 1, met] = len(met) if kind == NAMED_BARRIER else lanes
        program.places[end - 1, met] = 1


def _meetings(program: Program, rng: random.Random, crowd: list[int]) -> Iterator[tuple[int, list[int]]]:
    """Those who meet at once: lanes of a warp, or warps."""
    if program.dialect.named and (not program.dialect.masks or rng.random() < 0.5):
        warps = sorted({one // WARP for one in crowd})
        yield NAMED_BARRIER, [WARP * warp + lane for warp in warps for lane in range(WARP)]
        return
    for warp in {one // WARP for one in crowd}:
        yield rng.choice([WARP_BARRIER, SHUFFLE]), sorted({one for one in crowd if one // WARP == warp})


def _gather_by_flags(
    program: Program,
    rng: random.Random,
    number: Mapping[tuple[str, str], int],
    waited_for: Sequence[int],
    last: int,
) -> None:
    """Rows in which threads set flags or count, and the last waits for all of them, one after the other."""
    rows: list[tuple[int, str, int]] = []  # thread, operation, place
    for flag, one in enumerate(waited_for):
        if rng.random() < 0.5:
            rows.append((one, "release", flag))
        else:
            rows += [(one, "fence", 0), (one, "store", flag)]
    for flag in range(len(waited_for)):
        rows.append((last, rng.choice(["acquire", "load"]), flag))
    rows.append((last, "fence", 0))
    end, steps = len(program.kinds) - 1, len(program.kinds) - 1 + len(rows)
    for array in (program.kinds, program.operations, program.places, program.masks):
        array.resize((steps + 1, program.threads), refcheck=False)
        array[steps] = array[end]
        array[end:steps] = 0
    for step, (thread, name, place) in enumerate(rows, start=end):
        program.operations[step, thread] = number[name, ""]
        program.places[step, thread] = place


def _synchronise(
    program: Program,
    step: int,
    thread: int,
    rng: random.Random,
    unset: list[int],
    set_by: dict[int, tuple[int, bool]],
    ready: Mapping[int, tuple[int, bool]],
    number: Mapping[tuple[str, str], int],
) -> None:
    """One thread's fence, counter, or flag that is set or waited for."""
    name = rng.choice(program.dialect.synchronising[1:])
    if name in COUNTS:
        program.places[step, thread] = rng.randrange(COUNTERS)
    elif name in ("release", "store", "block_release"):
        if not unset:
            return
        program.places[step, thread] = flag = unset.pop()
        set_by[flag] = thread // program.block, name == "block_release"
    elif name in ("acquire", "load"):  # of a flag of this block or one before it
        here = [
            one for one, (block, near) in ready.items() if _may_wait(thread // program.block, block, near)
        ]
        if not here:
            return
        program.places[step, thread] = rng.choice(here)
    program.operations[step, thread] = number[name, ""]


def _may_wait(mine: int, block: int, near: bool) -> bool:
    return block == mine or (block < mine and not near)


def _barrier(program: Program, step: int, rng: random.Random) -> None:
    """A row in which all of a block, some warps, or some lanes meet."""
    dialect, warps = program.dialect, program.block // WARP
    kinds = [BLOCK_BARRIER, WARP_BARRIER, WARP_BARRIER, SHUFFLE] + [NAMED_BARRIER] * 3 * dialect.named
    kind = rng.choice(kinds) if dialect.masks or dialect.named else rng.choice([BLOCK_BARRIER, WARP_BARRIER])
    for first in range(0, program.threads, program.block):
        if kind == BLOCK_BARRIER:
            program.kinds[step, first : first + program.block] = kind
        elif kind == NAMED_BARRIER:
            met = rng.sample(range(warps), rng.randint(1, warps))
            for warp in met:
                chosen = slice(first + WARP * warp, first + WARP * (warp + 1))
                program.kinds[step, chosen] = kind
                program.places[step, chosen] = 1 + step % 15
                program.masks[step, chosen] = WARP * len(met)
        else:
            for warp in range(warps):
                _meet(program, step, first + WARP * warp, kind, rng)


def _meet(program: Program, step: int, first: int, kind: int, rng: random.Random) -> None:
    """Lanes of one warp meet, all or in groups."""
    chosen = rng.random()
    groups = [list(range(WARP))]
    if program.dialect.masks and chosen < 0.7:
        lanes = rng.sample(range(WARP), WARP)
        cut = rng.randint(1, WARP - 1)
        groups = [lanes[:cut], lanes[cut:]][: rng.choice([1, 2])]
    for group in groups:
        for lane in group:
            program.kinds[step, first + lane] = kind
            program.masks[step, first + lane] = sum(1 << one for one in group)


# ---------------------------------------------------------------------------------------- the judge
Races = set[tuple[str, frozenset[int]]]  # kinds and lines


@dataclass
class Access:
    """One access, and the clock of its thread then."""

    thread: int
    time: int
    known: np.ndarray
    form: Form
    line: int
    shared: bool


@dataclass
class Released:
    """What came with a value: clocks for all, and for threads of one block."""

    clock: np.ndarray
    near: dict[int, np.ndarray] = field(default_factory=dict)


class Judge:
    """Runs a program by vector clocks; `log` has what updates of counters returned."""

    def __init__(self, program: Program, log: np.ndarray):
        self.program, self._log = program, log
        count = program.threads
        self.clocks = np.zeros((count, count), np.int64)
        self._times = np.ones(count, np.int64)
        self._fenced = np.zeros((count, count), np.int64)
        self._fenced_near = np.zeros((count, count), np.int64)
        self._unfenced = np.zeros((count, count), np.int64)
        self._unfenced_near = np.zeros((count, count), np.int64)
        self._flags: dict[int, Released] = {}
        self._counters = [Released(np.zeros(count, np.int64)) for _ in range(COUNTERS)]
        self._counts = [0] * COUNTERS
        self.accesses: dict[tuple[str, int, int], list[Access]] = {}
        self._names, self._lines = program.dialect.operations, program.dialect.lines
        self._at = [0] * count
        self._run()

    # ------------------------------------------------------------------------------------ running
    def _run(self) -> None:
        steps, left = len(self.program.kinds), True
        while left:
            left = False
            for thread in range(self.program.threads):
                while self._at[thread] < steps and self._go(thread):
                    left = True
        assert all(at == steps for at in self._at), "the program comes to its end"

    def _go(self, thread: int) -> bool:
        """Run a thread's next step, if it can go on."""
        step = self._at[thread]
        kind = self.program.kinds[step, thread]
        if kind == ACCESS:
            if not self._operate(step, thread):
                return False
            self._at[thread] += 1
            return True
        met = self._group(step, thread, kind)
        if any(self._at[one] != step for one in met):
            return False
        for one in met:
            self._see_self(one)
        for clocks in (self.clocks, self._fenced, self._fenced_near):
            clocks[met] = clocks[met].max(axis=0)
        for one in met:
            self._at[one] += 1
        return True

    def _group(self, step: int, thread: int, kind: int) -> list[int]:
        """Those who meet at a step."""
        program, first = self.program, thread - thread % self.program.block
        block = range(first, first + program.block)
        if kind in (BLOCK_BARRIER, NAMED_BARRIER):
            return [one for one in block if program.kinds[step, one] == kind]
        warp = thread - thread % WARP
        return [warp + lane for lane in range(WARP) if program.masks[step, thread] >> lane & 1]

    def _see_self(self, thread: int) -> None:
        """What a thread did so far is part of what it knows, and not what it does next."""
        self.clocks[thread, thread] = self._times[thread]
        self._times[thread] += 1

    # ------------------------------------------------------------------------------------ operations
    def _operate(self, step: int, thread: int) -> bool:
        name, word = self._names[self.program.operations[step, thread]]
        place = int(self.program.places[step, thread])
        if word:
            self._access(thread, name, word)
        elif name in COUNTS:
            if self._log[step, thread] != self._counts[place]:
                return False
            self._counts[place] += 1
            self._access(thread, name, f"c[{place}]")
            self._count(thread, self._counters[place], release=name == "count")
        elif name in ("acquire", "load"):
            if place not in self._flags:
                return False
            self._wait(thread, self._flags[place], acquire=name == "acquire")
        elif name in ("release", "store", "block_release"):
            self._flags[place] = released = Released(np.zeros(self.program.threads, np.int64))
            self._release(thread, released, name)
        elif name in ("fence", "block_fence"):
            self._fence(thread, near=name == "block_fence")
        return True

    def _access(self, thread: int, name: str, word: str) -> None:
        form, block = _FORMS[name], thread // self.program.block
        shared = word[0] == "s"
        line = self._lines[name, "" if name in COUNTS else word]
        access = Access(thread, int(self._times[thread]), self.clocks[thread].copy(), form, line, shared)
        first = 4 * int(word[2]) + form.first
        for byte in range(first, first + form.size):
            self.accesses.setdefault((word[0], block if shared else -1, byte), []).append(access)

    def _release(self, thread: int, value: Released, name: str) -> None:
        """A thread stores or updates a value: what it fenced or, by a release, knows goes with it."""
        block, clock = thread // self.program.block, self._fenced[thread]
        near = self._fenced_near[thread]
        if name != "store":
            self._see_self(thread)
            if name == "block_release":
                near = np.maximum(near, self.clocks[thread])
            else:
                clock = np.maximum(clock, self.clocks[thread])
        value.clock = np.maximum(value.clock, clock)
        value.near[block] = np.maximum(value.near.get(block, value.clock), near)

    def _read(self, thread: int, value: Released) -> tuple[np.ndarray, np.ndarray]:
        """What came with a value, and what of its own block."""
        near = value.near.get(thread // self.program.block, np.zeros_like(value.clock))
        return np.maximum(value.clock, near), near

    def _count(self, thread: int, value: Released, *, release: bool) -> None:
        self.clocks[thread] = np.maximum(self.clocks[thread], self._read(thread, value)[0])
        self._release(thread, value, "release" if release else "store")

    def _wait(self, thread: int, value: Released, *, acquire: bool) -> None:
        came, near = self._read(thread, value)
        kept = self.clocks if acquire else self._unfenced
        kept[thread] = np.maximum(kept[thread], came)
        if not acquire:
            self._unfenced_near[thread] = np.maximum(self._unfenced_near[thread], near)

    def _fence(self, thread: int, *, near: bool) -> None:
        unfenced = self._unfenced_near if near else self._unfenced
        self.clocks[thread] = np.maximum(self.clocks[thread], unfenced[thread])
        self._see_self(thread)
        fenced = self._fenced_near if near else self._fenced
        fenced[thread] = np.maximum(fenced[thread], self.clocks[thread])

    # ------------------------------------------------------------------------------------ verdict
    def races(self) -> Iterator[Races]:
        """Of each byte that something races in: the kinds and lines of all pairs."""
        for accesses in self.accesses.values():
            found = set(self._pairs(accesses))
            if found:
                yield found

    def _pairs(self, accesses: Sequence[Access]) -> Iterator[tuple[str, frozenset[int]]]:
        for index, one in enumerate(accesses):
            for other in accesses[:index]:
                kind = self._race(one, other)
                if kind:
                    yield kind, frozenset({one.line, other.line})

    def _race(self, one: Access, other: Access) -> str:
        """The kind of race of two accesses to a byte, "" for none."""
        if one.thread == other.thread or not (one.form.write or other.form.write):
            return ""
        if one.known[other.thread] >= other.time or other.known[one.thread] >= one.time:
            return ""
        strengths = {one.form.strength, other.form.strength}
        block = self.program.block
        same_block = one.thread // block == other.thread // block
        same_warp = one.thread // WARP == other.thread // WARP
        if "" not in strengths:
            both_write = one.form.write and other.form.write
            if same_warp and (both_write or strengths != {"volatile"}):
                return ""
            if not same_warp and (same_block or "block" not in strengths):
                return ""
        if same_warp:
            return "warp-race"
        return "shared-race" if one.shared else "global-race"

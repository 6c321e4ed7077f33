"""What an access costs: rules.py against bytes written out one by one, generated code against rules.py."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from tests.engines import CPU_ENGINES, engine_mode
from warpglass.engine.cpu.backend import CpuBackend
from warpglass.engine.launch.backend import Launch
from warpglass.models.memory_rules import MODERN, rules_of
from warpglass.observe.counting import Counting, native, rules
from warpglass.observe.counting.choice import of_generation
from warpglass.observe.counting.rules import Cost, Rule
from warpglass.source.compiled import Compiled

SIZES = (1, 2, 4, 8, 16)
_TYPES = {1: "u8", 2: "u16", 4: "u32", 8: "u64", 16: "v2.u64"}
WARPS = 24


def patterns(rng: np.random.Generator, size: int, room: int) -> list[tuple[np.ndarray, int]]:
    """Element numbers of 32 lanes and the acting lanes' mask, of many kinds; below room/size elements."""
    lanes = np.arange(32)
    most = room // size
    found: list[tuple[np.ndarray, int]] = []
    for _ in range(WARPS):
        start = int(rng.integers(0, most // 2))
        kinds = [
            start + lanes,
            start + lanes * int(rng.integers(0, 9)),
            start + (lanes ^ int(rng.integers(0, 32))),
            start + lanes // int(rng.integers(1, 9)),
            np.full(32, start),
            rng.integers(0, most, 32),
            start + rng.integers(0, 70, 32),
            start + lanes % 16 + 32 * (lanes // 16) * int(rng.integers(1, 5)),
        ]
        mask = int(rng.choice([0xFFFFFFFF, int(rng.integers(1, 1 << 32)), 0xFFFF, 0x11111111, 1 << 31, 0]))
        found.append((kinds[int(rng.integers(len(kinds)))] % most, mask))
    return found


def rule_cost(rule: Rule, addresses: dict[int, int], size: int) -> Cost:
    """The compiled rule; lanes that do not act have addresses that nobody may look at."""
    mask = sum(1 << lane for lane in addresses)
    return native.cost(rule, [addresses.get(lane, 977 * lane) for lane in range(32)], size, mask)


def global_rounds(addresses: dict[int, int], size: int, distinct: int, lanes: int = 32) -> Cost:
    """Take lanes out one round after the other."""
    left, sectors, lines = dict(addresses), 0, 0
    while left:
        group = min(left) // lanes
        now = {a: lane for lane, a in sorted(left.items(), reverse=True) if lane // lanes == group}
        sectors += len({a // 32 for a in now})
        lines += len({a // 128 for a in now})
        for lane in now.values():
            del left[lane]
    return 1, sectors, lines, distinct


def turns(addresses: dict[int, int], size: int, distinct: int, passes: int = 1) -> Cost:
    """The lanes of the busiest bank of each group."""
    unit = max(size, 4)
    lanes = 128 // unit
    groups = [
        Counter(a // unit % lanes for lane, a in addresses.items() if lane // lanes == group)
        for group in range(32 // lanes)
    ]
    most = [max(found.values()) for found in groups if found]
    return passes * len(most), passes * sum(most), passes * len(most), distinct


def tries(addresses: dict[int, int], size: int, distinct: int) -> Cost:
    """In round k those load that are the k-th of their bank or later."""
    unit = max(size, 4)
    banks = 128 // unit
    place: dict[int, int] = {}
    seen: Counter[int] = Counter()
    for lane, a in sorted(addresses.items()):
        place[lane] = seen[a // unit % banks]
        seen[a // unit % banks] += 1
    rounds = max(seen.values())
    loads = touched = 0
    for number in range(rounds):
        waiting = {a for lane, a in addresses.items() if place[lane] >= number}
        touched += size * len(waiting)
        loads += max(Counter(word % banks for word in {a // unit for a in waiting}).values())
    return rounds, sum(number + 1 for number in place.values()), loads, touched


ATOMIC = {
    Rule.GLOBAL_ATOMIC: global_rounds,
    Rule.GLOBAL_CAS64: lambda addresses, size, distinct: global_rounds(addresses, size, distinct, 8),
    Rule.SHARED_ATOMIC: turns,
    Rule.SHARED_CAS: lambda addresses, size, distinct: turns(addresses, size, distinct, 2),
    Rule.SHARED_CAS_LOOP: tries,
}


def segments(addresses: dict[int, int], size: int, distinct: int) -> Cost:
    """Compute capability 1.2 and 1.3, in the steps of the programming guide."""
    parts = transactions = 0
    for half in (0, 1):
        waiting = {lane: a for lane, a in addresses.items() if lane // 16 == half}
        while waiting:
            length = {1: 32, 2: 64}.get(size, 128)
            start = waiting[min(waiting)] // length * length
            served = {lane for lane, a in waiting.items() if start <= a < start + length}
            touched = {waiting[lane] + byte for lane in served for byte in range(size)}
            while length > 32 and (max(touched) < start + length // 2 or min(touched) >= start + length // 2):
                length //= 2
                start += length if min(touched) >= start + length else 0
            parts, transactions = parts + length // 32, transactions + 1
            waiting = {lane: a for lane, a in waiting.items() if lane not in served}
    return 1, parts, transactions, distinct


def in_order(addresses: dict[int, int], size: int, distinct: int) -> Cost:
    """Compute capability 1.0 and 1.1: all of an aligned piece, or 32 bytes for each thread."""
    parts = transactions = 0
    for half in (0, 1):
        own = {lane - 16 * half: a for lane, a in addresses.items() if lane // 16 == half}
        starts = {a - size * k for k, a in own.items()}
        if size >= 4 and len(starts) == 1 and min(starts) % min(16 * size, 128) == 0:
            parts, transactions = parts + 16 * size // 32, transactions + -(-16 * size // 128)
        else:
            parts, transactions = parts + len(own), transactions + len(own)
    return 1, parts, transactions, distinct


OLD = {Rule.GLOBAL_SEGMENTS: segments, Rule.GLOBAL_IN_ORDER: in_order}
MATRICES = {Rule.LDMATRIX_X1: 1, Rule.LDMATRIX_X2: 2, Rule.LDMATRIX_X4: 4}


def by_hand(rule: Rule, addresses: dict[int, int], size: int) -> Cost:
    """The same numbers from sets of bytes, lane by lane."""
    if not addresses:
        return 0, 0, 0, 0
    touched = {address + byte for address in addresses.values() for byte in range(size)}
    if rule == Rule.GLOBAL:
        return 1, len({b // 32 for b in touched}), len({b // 128 for b in touched}), len(touched)
    if rule == Rule.LOCAL:
        places = {
            (address + byte) // 4 * 128 + 4 * lane + (address + byte) % 4
            for lane, address in addresses.items()
            for byte in range(size)
        }
        rows = max(1, size // 4)
        return rows, len({p // 32 for p in places}), len({p // 128 for p in places}), len(touched)
    if rule in OLD:
        return OLD[rule](addresses, size, len(touched))
    if rule in ATOMIC:
        return ATOMIC[rule](addresses, size, len(touched))
    if rule in MATRICES:
        addresses = {lane: a for lane, a in addresses.items() if lane < 8 * MATRICES[rule]}
        touched = {address + byte for address in addresses.values() for byte in range(size)}
    count = max(1, size // 4)

    def passes(first: int, number: int) -> int:
        words = {
            b // 4
            for lane, a in addresses.items()
            if first <= lane < first + number
            for b in range(a, a + size)
        }
        return max(Counter(word % 32 for word in words).values(), default=0)

    def ideal(waves: int) -> int:
        return min(waves, (len(addresses) * size + 127) // 128)

    lanes = 32 // count
    single = [passes(k * lanes, lanes) for k in range(count)]
    if rule == Rule.SHARED_LOAD and count > 1:
        pairs = [passes(2 * k * lanes, 2 * lanes) for k in range(count // 2)]
        same = any(
            all(addresses[lane] == addresses.get(lane ^ d, addresses[lane]) for lane in addresses)
            for d in (1, 2)
        )
        if same:
            waves = sum(pairs) if max(pairs) <= 1 else sum(single)
            return ideal(waves), waves, sum(1 for p in pairs if p), len(touched)
    return ideal(sum(single)), sum(single), sum(1 for p in single if p), len(touched)


@pytest.mark.parametrize("size", [*SIZES, 32])
@pytest.mark.parametrize("rule", Rule)
def test_rules_are_sets_of_bytes(rule: Rule, size: int):
    rng = np.random.default_rng(size)
    for elements, mask in patterns(rng, size, 8192) * 3 + patterns(rng, size, 1 << 40):
        addresses = {lane: size * int(elements[lane]) for lane in range(32) if mask >> lane & 1}
        want = by_hand(rule, addresses, size)
        assert rule_cost(rule, addresses, size) == want, (addresses, size)
        given = [addresses.get(lane, 0) for lane in range(32)]
        assert rules.cost(rule, given, mask, size, [0] * (rules.SLOTS + 1)) == want, "as plain Python"


def kernel(space: str, size: int) -> str:
    """A kernel whose lane i of warp w accesses element where[w, i] if bit i of masks[w] is set."""
    vector = _TYPES[size].startswith("v2")
    value = "{%v0, %v1}" if vector else "%v0"
    base = {
        "global": "ld.param.u64 %base, [data];\n",
        "shared": "mov.u64 %base, room;\n",
        "local": "mov.u64 %base, own;\n",
    }[space]
    return f"""
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 data, .param .u64 where, .param .u64 masks)
{{
  .reg .pred %p;
  .reg .b32 %r<6>;
  .reg .b64 %v<2>, %base, %where, %masks, %a, %b;
  .shared .align 16 .b8 room[8192];
  .local .align 16 .b8 own[8192];
  {base}
  ld.param.u64 %where, [where];
  ld.param.u64 %masks, [masks];
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, %ctaid.x;
  mad.lo.u32 %r2, %r1, 32, %r0;
  mul.wide.u32 %a, %r2, 4;
  add.u64 %a, %where, %a;
  ld.global.u32 %r3, [%a];
  mul.wide.u32 %a, %r1, 4;
  add.u64 %a, %masks, %a;
  ld.global.u32 %r4, [%a];
  shr.u32 %r4, %r4, %r0;
  and.b32 %r4, %r4, 1;
  setp.ne.u32 %p, %r4, 0;
  mul.wide.u32 %b, %r3, {size};
  add.u64 %b, %base, %b;
  @%p ld.{space}.{_TYPES[size]} {value}, [%b];
  @%p st.{space}.{_TYPES[size]} [%b], {value};
  ret;
}}
"""


@pytest.mark.sampled(quick=5)
@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("space", ["global", "shared", "local", "global of 1.0", "global of 1.3"])
def test_generated_code_counts_by_the_rules(space: str, size: int, engine: str):
    space, _, capability = space.partition(" of ")
    memory = rules_of((1, int(capability[2:]))) if capability else MODERN
    rng = np.random.default_rng(100 + size)
    made = patterns(rng, size, 8192)
    made += [made[int(k)] for k in rng.integers(0, len(made), 3 * len(made))]  # remembered patterns, too
    where = np.array([elements for elements, _ in made], np.uint32)
    masks = np.array([mask for _, mask in made], np.uint32)
    data = np.zeros(8192, np.uint8)
    compiled = Compiled(kernel(space, size), "k", f"counted {engine}", "ptx")
    launch = Launch(compiled, (len(made), 1, 1), (32, 1, 1), (data, where, masks))
    with engine_mode(engine):
        _, seen = CpuBackend().observe(launch, Counting(memory=memory))
    tallies = Counting.read(seen.program, seen.probes, seen.totals)
    want: dict[str, Any] = {verb: np.zeros(4, np.int64) for verb in ("ld", "st")}
    for elements, mask in made:
        addresses = {lane: size * int(elements[lane]) for lane in range(32) if mask >> lane & 1}
        for verb, name in (("ld", "load"), ("st", "store")):
            rule = Rule[f"SHARED_{name.upper()}" if space == "shared" else space.upper()]
            rule = of_generation(rule, memory.loads)
            want[verb] += rule_cost(rule, addresses, size)
    threads = sum(bin(mask).count("1") for _, mask in made)
    for tally in (one for one in tallies if one.step.instruction.guard):
        verb = tally.step.instruction.opcode
        assert tally.accesses[space, verb == "st"] == tuple(want[verb])
        assert (tally.issued, tally.threads) == (len(made), threads)
        assert tally.warps == sum(mask != 0 for _, mask in made)


# Rule, space, bytes, and the instruction: %b is its address, %v0 and %r3 are values of 8 and 4 bytes.
ATOMIC_FORMS = [
    (Rule.GLOBAL_ATOMIC, "global", 4, "atom.global.add.u32 %r5, [%b], %r3"),
    (Rule.GLOBAL_ATOMIC, "global", 4, "red.global.add.f32 [%b], %f0"),
    (Rule.GLOBAL_ATOMIC, "global", 8, "red.global.max.u64 [%b], %v0"),
    (Rule.GLOBAL_ATOMIC, "global", 4, "atom.global.cas.b32 %r5, [%b], %r3, %r4"),
    (Rule.GLOBAL_CAS64, "global", 8, "atom.global.cas.b64 %v1, [%b], %v0, %v0"),
    (Rule.SHARED_ATOMIC, "shared", 4, "atom.shared.add.u32 %r5, [%b], %r3"),
    (Rule.SHARED_ATOMIC, "shared", 4, "red.shared.min.s32 [%b], 1"),
    (Rule.SHARED_ATOMIC, "shared", 8, "atom.shared.exch.b64 %v1, [%b], %v0"),
    (Rule.SHARED_CAS, "shared", 4, "atom.shared.cas.b32 %r5, [%b], %r3, %r4"),
    (Rule.SHARED_STORE, "shared", 4, "red.shared.add.u32 [%b], 1"),
    (Rule.SHARED_CAS_LOOP, "shared", 4, "atom.shared.add.f32 %f0, [%b], %f0"),
    (Rule.SHARED_CAS_LOOP, "shared", 8, "red.shared.add.f64 [%b], %d0"),
]


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize(("rule", "space", "size", "form"), ATOMIC_FORMS)
def test_generated_code_counts_atomics_by_their_rules(
    rule: Rule, space: str, size: int, form: str, engine: str
):
    rng = np.random.default_rng(size)
    made = patterns(rng, size, 8192) * 2
    where = np.array([elements for elements, _ in made], np.uint32)
    masks = np.array([mask for _, mask in made], np.uint32)
    text = kernel(space, 8 if size == 8 else 4)
    text = text[: text.index("@%p ld.")].replace(".reg .pred", ".reg .f32 %f<1>; .reg .f64 %d<1>; .reg .pred")
    compiled = Compiled(f"{text}@%p {form};\nret;\n}}\n", "k", f"atomic {engine}", "ptx")
    launch = Launch(compiled, (len(made), 1, 1), (32, 1, 1), (np.zeros(8192, np.uint8), where, masks))
    with engine_mode(engine):
        _, seen = CpuBackend().observe(launch, Counting())
    tallies = Counting.read(seen.program, seen.probes, seen.totals)
    want = np.zeros(4, np.int64)
    for elements, mask in made:
        want += rule_cost(
            rule, {lane: size * int(elements[lane]) for lane in range(32) if mask >> lane & 1}, size
        )
    (tally,) = (one for one in tallies if one.step.instruction.guard)
    assert tally.accesses[space, True] == tuple(want)


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize("count", [1, 2, 4])
def test_matrices_are_loaded_one_after_the_other(count: int, engine: str):
    rng = np.random.default_rng(count)
    rows = rng.integers(0, 256, (WARPS, 32))
    text = kernel("shared", 16)
    text = text[: text.index("@%p ld.")] + "cvt.u32.u64 %r5, %b;\n"
    into = ", ".join(f"%m{k}" for k in range(count))
    text = text.replace(".reg .pred", ".reg .b32 %m<4>; .reg .pred")
    text += f"ldmatrix.sync.aligned.m8n8.x{count}.shared.b16 {{{into}}}, [%r5];\nret;\n}}\n"
    launch = Launch(
        Compiled(text, "k", f"matrix {engine}", "ptx"),
        (WARPS, 1, 1),
        (32, 1, 1),
        (np.zeros(8, np.uint8), rows.astype(np.uint32), np.full(WARPS, 0xFFFFFFFF, np.uint32)),
    )
    with engine_mode(engine):
        _, seen = CpuBackend().observe(launch, Counting())
    tallies = Counting.read(seen.program, seen.probes, seen.totals)
    (tally,) = (one for one in tallies if one.step.instruction.opcode == "ldmatrix")
    want = np.zeros(4, np.int64)
    for one in rows:
        want += rule_cost(
            Rule[f"LDMATRIX_X{count}"], {lane: 16 * int(row) for lane, row in enumerate(one)}, 16
        )
    assert tally.accesses["shared", False] == tuple(want)

"""Statements of random kernels beyond one thread's own arithmetic: calls, warps, atomics, locks, vectors.

Results do not depend on any order: memory that threads share is changed by operations that commute, warps
exchange values where all lanes of the member mask are present, and a lock guards a sum. Kernels with these
statements end only at their end, so that no lane of a mask is ever missing; those with early exits do
without what needs all lanes (`exits`).
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Protocol

Statement = Callable[[], None]

# Bytes behind the exchange buffer: commuting sums, the lock, and what it guards.
CELLS = 16
SHARED_BYTES = 4096 + 8 * CELLS + 16
_OWN_BYTES = 64  # of local memory

_COMMUTING = (("add", "u32"), ("add", "u64"), ("or", "b32"), ("xor", "b32"), ("xor", "b64"))
_COMMUTING += (("max", "u32"), ("min", "s32"), ("max", "s64"))


class Body(Protocol):
    """What the statements need of the kernel's writer."""

    rng: random.Random
    lines: list[str]
    outputs: list[str]
    padded: int
    threads: int
    trips: int

    def register(self, type_: str) -> str: ...
    def source(self, type_: str, immediate: bool = False) -> str: ...
    def predicate(self) -> str: ...
    def new_label(self) -> str: ...
    def new_region(self, type_: str) -> int: ...
    def own_element(self) -> None: ...
    def input_index(self) -> None: ...
    def block_of(self, uniform: bool, depth: int) -> None: ...


class Features:
    """The statements, for one kernel; `functions` is PTX that goes in front of it."""

    def __init__(self, body: Body, functions: list[str], exits: bool):
        self.body = body
        self.functions = functions
        self.exits = exits
        # A fair loop makes code several times as long: one in a kernel, without switches beside it.
        self.locks = int(body.rng.random() < 0.2)
        self.with_lock = bool(self.locks)

    def prelude(self) -> list[str]:
        """Lines that set up what the statements use: cells and local memory are zero, masks known."""
        return [
            f".local .align 16 .b8 own[{_OWN_BYTES}];",
            # The lanes of this warp, in r84.
            f"mov.u32 %r84, %laneid; sub.u32 %r84, %r93, %r84; sub.u32 %r84, {self.body.threads}, %r84;",
            "min.u32 %r84, %r84, 32; mov.u64 %rd88, 1; shl.b64 %rd88, %rd88, %r84; sub.u64 %rd88, %rd88, 1;",
            "cvt.u32.u64 %r84, %rd88; mov.u64 %rd87, own; mov.u32 %r82, 0;",
            "OWN: st.local.u64 [%rd87], 0; add.u64 %rd87, %rd87, 8; add.u32 %r82, %r82, 1;",
            f"setp.lt.u32 %p9, %r82, {_OWN_BYTES // 8}; @%p9 bra OWN;",
            *self._over_cells("CELLS", "st.shared.u64 [%r88+4096], 0;"),
        ]

    def epilogue(self) -> list[str]:
        """Lines that store what the block's threads made together."""
        region = self.body.new_region("cell")
        number = f"mad.lo.u32 %r81, %r95, {CELLS + 2}, %r82; rem.u32 %r81, %r81, {self.body.padded};"
        place = f"mad.wide.u32 %rd89, %r81, 8, %rd90; red.global.add.u64 [%rd89+{region}], %rd88;"
        return self._over_cells("SUMS", f"ld.shared.u64 %rd88, [%r88+4096]; {number} {place}")

    def _over_cells(self, label: str, body: str) -> list[str]:
        """A loop in which the block's threads share out the cells; r82 is the number, r88 the place."""
        return [
            "bar.sync 0; mov.u32 %r86, buffer; mov.u32 %r82, %r93;",
            f"{label}: setp.ge.u32 %p9, %r82, {CELLS + 2}; @%p9 bra {label}_END;",
            f"mad.lo.u32 %r88, %r82, 8, %r86; {body}",
            f"add.u32 %r82, %r82, {self.body.threads}; bra {label};",
            f"{label}_END: bar.sync 0;",
        ]

    def choices(self, uniform: bool, depth: int) -> list[tuple[int, Statement]]:
        """Statements with weights, for code that the whole block runs (`uniform`) or only some lanes."""
        found: list[tuple[int, Statement]] = [
            (2, self._call),
            (1, self._reduce_globally),
            (1, self._reduce_in_block),
            (1, self._swap_own),
            (1, self._local),
            (1, self._vector),
            (1, self._bytes),
        ]
        if depth < 3 and self.body.trips <= 12 and not self.with_lock:
            found.append((2, lambda: self._switch(uniform, depth)))
        if self.locks and self.body.trips <= 3:
            found.append((4, self._lock))
        if uniform and self.body.trips <= 12:
            found.append((2, self._barrier))
        if uniform and not self.exits:
            found += [(4, lambda: self._warp("%r84")), (1, self._some_lanes)]
        return found

    # ------------------------------------------------------------------------------------ calls
    def _call(self) -> None:
        b = self.body
        result = b.register("u32")
        b.lines.append("{ .param .b32 x; .param .b64 y; .param .b32 r;")
        b.lines.append(f"st.param.b32 [x], {b.source('u32')}; st.param.b64 [y], {b.register('u64')};")
        b.lines.append(f"call (r), f{b.rng.randrange(len(self.functions))}, (x, y);")
        b.lines.append(f"ld.param.b32 {result}, [r]; }}")

    # ------------------------------------------------------------------------------------ control flow
    def _switch(self, uniform: bool, depth: int) -> None:
        b = self.body
        same = uniform and b.rng.random() < 0.4
        value = b.rng.choice(("%r96", "%r89")) if same else b.register("u32")
        table, end = b.new_label(), b.new_label()
        cases = [b.new_label() for _ in range(b.rng.choice((2, 4)))]
        order = [b.rng.choice(cases) for _ in range(4)]
        order[: len(cases)] = cases
        b.lines += [f"{table}: .branchtargets {', '.join(order)};", f"and.b32 %r82, {value}, 3;"]
        b.lines.append(f"brx.idx %r82, {table};")
        for label in cases:
            b.lines.append(f"{label}:")
            b.block_of(same, depth + 1)
            if b.rng.random() < 0.7 or label == cases[-1]:
                b.lines.append(f"bra {end};")
        b.lines.append(f"{end}:")

    def _barrier(self) -> None:
        """Barriers with ids, counts and votes: whole warps of the block take part."""
        b = self.body
        name = b.rng.choice(("0", "1", "5"))
        result, condition = b.register("u32"), b.predicate()
        whole = -(-b.threads // 32) * 32
        ways = [f"bar.sync {name};", f"barrier.sync {name};"]
        if not self.exits:
            ways.append(f"bar.sync {name}, {whole};")
            ways.append(f"bar.red.popc.u32 {result}, {name}, {condition};")
            ways.append(f"bar.red.and.pred {condition}, {name}, {condition};")
            ways.append(f"bar.red.or.pred {condition}, {name}, !{condition};")
        b.lines.append(b.rng.choice(ways))

    # ------------------------------------------------------------------------------------ warps
    def _warp(self, mask: str) -> None:
        """Exchange between the lanes of a mask that are all here."""
        b = self.body
        a, d, p, q = b.register("u32"), b.register("u32"), b.predicate(), b.predicate()
        step = b.rng.choice((str(b.rng.randrange(32)), b.register("u32")))
        mode = b.rng.choice(("up", "down", "bfly", "idx"))
        vote, order = b.rng.choice(("all", "any", "uni")), b.rng.choice(("add", "min", "max"))
        ways = [
            f"vote.sync.{vote}.pred {p}, {b.rng.choice(('', '!'))}{q}, {mask};",
            f"vote.sync.ballot.b32 {d}, {q}, {mask};",
            f"match.any.sync.b32 {d}, {a}, {mask};",
            f"match.any.sync.b64 {d}, {b.register('u64')}, {mask};",
            f"match.all.sync.b32 {d}|{p}, {a}, {mask};",
            f"redux.sync.{order}.{b.rng.choice(('u32', 's32'))} {d}, {a}, {mask};",
            f"redux.sync.{b.rng.choice(('and', 'or', 'xor'))}.b32 {d}, {a}, {mask};",
        ]
        if mask == "%r84" and b.threads % 32 == 0:  # every lane that may be read is there
            clamp = b.rng.choice(("0x1F", "0x181F", "0x101F") if mode != "up" else ("0", "0x1800"))
            ways += [f"shfl.sync.{mode}.b32 {d}|{p}, {a}, {step}, {clamp}, {mask};"] * 5
        b.lines.append(b.rng.choice(ways))

    def _some_lanes(self) -> None:
        """Lanes that a pattern names leave the others for an exchange of their own."""
        b = self.body
        pattern = b.rng.choice((0x55555555, 0x0F0F0F0F, 0x0000FFFF, 0x80000001, 0x22222222))
        skip = b.new_label()
        b.lines.append(f"mov.u32 %r82, %laneid; mov.u32 %r81, {pattern}; shr.u32 %r82, %r81, %r82;")
        b.lines.append("and.b32 %r82, %r82, 1; setp.eq.u32 %p9, %r82, 0; and.b32 %r81, %r81, %r84;")
        b.lines.append(f"@%p9 bra {skip};")
        for _ in range(b.rng.randint(1, 2)):
            self._warp("%r81")
        b.lines.append(f"{skip}:")

    # ------------------------------------------------------------------------------------ atomics
    def _reduce_globally(self) -> None:
        """Threads of all blocks change elements of a region that some of them share."""
        b = self.body
        operation, type_ = b.rng.choice(_COMMUTING)
        region = b.new_region("u64")
        value = b.register("u64" if type_.endswith("64") else "u32")
        b.lines.append(
            f"shr.u32 %r88, %r94, {b.rng.choice((0, 1, 3, 20))}; mad.wide.u32 %rd89, %r88, 8, %rd90;"
        )
        if b.rng.random() < 0.5:
            b.lines.append(
                f"and.b32 %r88, {b.register('u32')}, {b.padded - 1}; mad.wide.u32 %rd89, %r88, 8, %rd90;"
            )
        form = b.rng.choice((f"red.global.{operation}.{type_} [%rd89+{region}], {value};",) * 2)
        if b.rng.random() < 0.3:
            wide = "%rd87" if type_.endswith("64") else "%r82"
            form = f"atom.global.{operation}.{type_} {wide}, [%rd89+{region}], {value};"
        b.lines.append(form)

    def _reduce_in_block(self) -> None:
        """Threads of a block change cells in shared memory; an operation has cells of its own."""
        b = self.body
        number = b.rng.randrange(len(_COMMUTING))
        operation, type_ = _COMMUTING[number]
        value = b.register("u64" if type_.endswith("64") else "u32")
        b.lines.append(f"mov.u32 %r86, buffer; and.b32 %r88, {b.register('u32')}, 1;")
        b.lines.append("mad.lo.u32 %r88, %r88, 8, %r86;")
        b.lines.append(f"red.shared.{operation}.{type_} [%r88+{4096 + 16 * number}], {value};")

    def _swap_own(self) -> None:
        """Atomics on the thread's own element, whose old value is known."""
        b = self.body
        region = b.new_region("u64")
        type_ = b.rng.choice(("u32", "u64"))
        bits = f"b{type_[1:]}"
        result, value, other = b.register(type_), b.register(type_), b.source(type_, immediate=True)
        b.own_element()
        ways = (
            f"atom.global.add.{type_} {result}, [%rd89+{region}], {value};",
            f"atom.global.exch.{bits} {result}, [%rd89+{region}], {value};",
            f"atom.global.cas.{bits} {result}, [%rd89+{region}], {other}, {value};",
            f"atom.global.max.s{type_[1:]} {result}, [%rd89+{region}], {value};",
            f"atom.global.and.{bits} {result}, [%rd89+{region}], {value};",
        )
        for line in b.rng.sample(ways, 2):
            b.lines.append(line)
        if type_ == "u32":
            b.lines.append(f"atom.global.inc.u32 {result}, [%rd89+{region}], {value};")

    def _lock(self) -> None:
        """Every lane takes a lock of the block in turn."""
        b = self.body
        self.locks -= 1
        again, busy = b.new_label(), b.new_label()
        lock, guarded = 4096 + 8 * CELLS, 4096 + 8 * CELLS + 8
        b.lines += [
            "mov.u32 %r86, buffer; mov.u32 %r81, 0;",
            f"{again}: atom.shared.cas.b32 %r82, [%r86+{lock}], 0, 1;",
            f"setp.ne.u32 %p9, %r82, 0; @%p9 bra {busy};",
            f"membar.cta; ld.volatile.shared.u32 %r82, [%r86+{guarded}];",
            f"add.u32 %r82, %r82, {b.register('u32')};",
            f"st.volatile.shared.u32 [%r86+{guarded}], %r82; membar.cta;",
            f"atom.shared.exch.b32 %r82, [%r86+{lock}], 0; mov.u32 %r81, 1;",
            f"{busy}: setp.eq.u32 %p9, %r81, 0; @%p9 bra {again};",
        ]

    # ------------------------------------------------------------------------------------ memory
    def _local(self) -> None:
        b = self.body
        type_, size = b.rng.choice((("u32", 4), ("u64", 8), ("u16", 2)))
        elements = _OWN_BYTES // size
        for operation in ("st", "ld"):
            index = b.rng.choice((b.register("u32"), b.register("u32"), str(b.rng.randrange(elements))))
            b.lines.append(
                f"and.b32 %r82, {index}, {elements - 1};" if index[0] == "%" else f"mov.u32 %r82, {index};"
            )
            b.lines.append(f"mov.u64 %rd87, own; mad.wide.u32 %rd87, %r82, {size}, %rd87;")
            if operation == "st":
                b.lines.append(f"st.local.{type_} [%rd87], {b.register(type_)};")
            else:
                b.lines.append(f"ld.local.{type_} {b.register(type_)}, [%rd87];")

    def _vector(self) -> None:
        b = self.body
        count, type_, base, size = b.rng.choice(
            ((2, "u32", "%rd92", 4), (4, "u32", "%rd92", 4), (2, "u64", "%rd93", 8), (4, "u16", "%rd91", 2))
        )
        names = b.rng.sample(
            [f"%{ {'u16': 'rs', 'u32': 'r', 'u64': 'rd'}[type_] }{k}" for k in range(1, 5)], count
        )
        b.input_index()
        b.lines.append(
            f"and.b32 %r88, %r88, {b.padded - 1}; and.b32 %r88, %r88, {~(count - 1) & 0xFFFFFFFF};"
        )
        b.lines.append(f"mad.wide.u32 %rd89, %r88, {size}, {base};")
        b.lines.append(f"ld.global.v{count}.{type_} {{{', '.join(names)}}}, [%rd89];")
        if count * size == 8:
            region = b.new_region("u64")
            b.own_element()
            b.lines.append(f"st.global.v{count}.{type_} [%rd89+{region}], {{{', '.join(names)}}};")
        else:
            b.lines.append(
                f"mov.u64 %rd87, own; st.local.v{count}.{type_} [%rd87+16], {{{', '.join(names)}}};"
            )
            b.lines.append(f"ld.local.v2.u32 {{{b.register('u32')}, %r82}}, [%rd87+24];")

    def _bytes(self) -> None:
        b = self.body
        region = b.new_region("u64")
        target, narrow = b.register("u32"), b.register("u16")
        b.input_index()
        b.lines.append(f"and.b32 %r88, %r88, {b.padded - 1}; mad.wide.u32 %rd89, %r88, 1, %rd91;")
        b.lines.append(f"ld.global.{b.rng.choice(('u8', 's8'))} {b.rng.choice((target, narrow))}, [%rd89];")
        b.own_element()
        b.lines.append(
            f"st.global.u8 [%rd89+{region + b.rng.randrange(4)}], {b.rng.choice((target, narrow))};"
        )
        b.lines.append(f"st.global.u16 [%rd89+{region + 6}], {narrow};")
        b.lines.append(
            f"ld.global.{b.rng.choice(('u8', 's8', 's16'))} {b.register('u32')}, [%rd89+{region + 6}];"
        )

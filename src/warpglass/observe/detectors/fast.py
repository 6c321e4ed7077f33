"""The first test of plain accesses, as LLVM IR: most of them race with nothing that is remembered.

`@wg_seen_run_...` is for lanes that lie side by side, `@wg_seen_any_...` for any addresses. Either loads the
stamps of all lanes, tests them at once and puts the new ones in their place. What does not pass, and whatever
is unusual, goes to the compiled `access` (shadow.py), which looks at one lane after the other.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...codegen.builder import constant_vector
from . import layout

DECLARATIONS = frozenset(
    {
        "declare <32 x i64> @llvm.masked.gather.v32i64.v32p0(<32 x ptr>, <32 x i1>, <32 x i64>)",
        "declare void @llvm.masked.scatter.v32i64.v32p0(<32 x i64>, <32 x ptr>, <32 x i1>)",
        "declare void @llvm.masked.store.v32i64.p0(<32 x i64>, ptr, <32 x i1>)",
        "declare i32 @llvm.cttz.i32(i32, i1)",
    }
)
_WHOLE = "<32 x i64>"
_WINDOW = (1 << 48) - 1


@dataclass(frozen=True, slots=True)
class Test:
    """Which function an access wants."""

    run: bool  # lanes lie side by side
    write: bool
    size: int
    shared: bool  # the state space says so; else the address does

    @property
    def name(self) -> str:
        """The function's name."""
        words = ("run" if self.run else "any", "write" if self.write else "read", str(self.size))
        return "wg_seen_" + "_".join((*words, "shared" if self.shared else "global"))

    @property
    def address(self) -> str:
        """The type of the address: the first lane's for a run."""
        return "i64" if self.run else _WHOLE


def helper(test: Test, state: int, settle: int, function: int, addresses: int) -> str:
    """A test's definition; the words are those of the state, two compiled functions and lanes' addresses."""
    log = test.size.bit_length() - 1
    lines = [*_start(test, state, settle), *_region(test, log), *_stamps(test), *_write_test(test)]
    lines += _reads(test) if not test.write else _readers(test)
    lines += _finish(test)
    body = "\n".join(lines)
    return f"""
define internal void @{test.name}(
  ptr %counters, i64 %info, i64 %low_bits, i32 %mask, i32 %warp, {test.address} %address, i64 %values
) noinline #0 {{
entry:
{body}
slow:
{_slow(test, function, addresses)}
}}
"""


def _word(into: str, index: int, by_warp: bool = False) -> list[str]:
    start = f"%{into}.s = add i64 {index}, {'%warp64' if by_warp else 0}"
    return [
        f"  {start}",
        f"  %{into}.p = getelementptr i64, ptr %S, i64 %{into}.s",
        f"  %{into} = load i64, ptr %{into}.p",
    ]


def _splat(into: str, value: str) -> list[str]:
    return [
        f"  %{into}.1 = insertelement {_WHOLE} poison, i64 {value}, i32 0",
        f"  %{into} = shufflevector {_WHOLE} %{into}.1, {_WHOLE} poison, <32 x i32> zeroinitializer",
    ]


def _start(test: Test, state: int, settle: int) -> list[str]:
    lines = [
        "  %warp64 = zext i32 %warp to i64",
        f"  %state.p = getelementptr i64, ptr %counters, i64 {state}",
        "  %state = load i64, ptr %state.p",
        "  %S = inttoptr i64 %state to ptr",
        "  %lanes = bitcast i32 %mask to <32 x i1>",
        *_word("pending", layout.PENDING, by_warp=True),
        "  %settled = icmp eq i64 %pending, 0",
        "  br i1 %settled, label %settled_now, label %settle",
        "settle:",  # the warp goes on behind a barrier
        f"  %settle.p = getelementptr i64, ptr %counters, i64 {settle}",
        "  %settle.f = load ptr, ptr %settle.p",
        "  call void %settle.f(i64 %state, i64 %warp64)",
        "  br label %settled_now",
        "settled_now:",
    ]
    if test.run:
        return [*lines, "  %first = add i64 %address, 0"]
    return [
        *lines,
        "  %lane.first = call i32 @llvm.cttz.i32(i32 %mask, i1 false)",
        "  %lane.in = and i32 %lane.first, 31",
        f"  %first = extractelement {_WHOLE} %address, i32 %lane.in",
    ]


def _region(test: Test, log: int) -> list[str]:
    """The region of the first lane, and whether all active lanes are within it with stamps of their size."""
    lines = ["  %window = lshr i64 %first, 48", f"  %within = and i64 %first, {_WINDOW}"]
    if test.shared:
        lines += [
            "  %number = add i64 0, 0",
            "  %known = icmp eq i64 0, 0",
            "  %is_shared = icmp eq i64 0, 0",
        ]
    else:
        lines += [
            "  %is_shared = icmp eq i64 %window, 1",
            "  %is_array = icmp eq i64 %window, 7",
            "  %known.w = or i1 %is_shared, %is_array",
            "  %array = lshr i64 %within, 37",
            f"  %array.number = add i64 %array, {layout.FIRST_ARRAY}",
            "  %number = select i1 %is_shared, i64 0, i64 %array.number",
            *_word("count", layout.REGION_COUNT),
            "  %listed = icmp ult i64 %number, %count",
            "  %known = and i1 %known.w, %listed",
        ]
    lines += [
        "  br i1 %known, label %found, label %slow",
        "found:",
        *_word("regions", layout.REGIONS),
        f"  %row.o = mul i64 %number, {8 * layout.REGION_WORDS}",
        "  %row.a = add i64 %regions, %row.o",
        "  %row = inttoptr i64 %row.a to ptr",
    ]
    for name in ("BASE", "SIZE", "SHIFT", "WRITES", "READS", "FRESH", "MORE_READS"):
        at = getattr(layout, name)
        lines += [
            f"  %{name}.p = getelementptr i64, ptr %row, i64 {at}",
            f"  %{name} = load i64, ptr %{name}.p",
        ]
    lines += [
        f"  %start = and i64 %BASE, {_WINDOW}",
        f"  %fits = icmp eq i64 %SHIFT, {log}",
        f"  %last = sub i64 %SIZE, {32 * test.size if test.run else test.size}",
        "  %big = icmp sge i64 %last, 0",
    ]
    if test.run:
        lines += ["  %offset = sub i64 %within, %start", "  %inside = icmp ule i64 %offset, %last"]
    else:
        lines += [
            f"  %all.within = and {_WHOLE} %address, splat (i64 {_WINDOW})",
            *_splat("starts", "%start"),
            f"  %offsets = sub {_WHOLE} %all.within, %starts",
            *_splat("lasts", "%last"),
            f"  %far = icmp ugt {_WHOLE} %offsets, %lasts",
            *_splat("windows", "%window"),
            f"  %all.window = lshr {_WHOLE} %address, splat (i64 48)",
            f"  %astray = icmp ne {_WHOLE} %all.window, %windows",
            "  %out = or <32 x i1> %far, %astray",
            "  %out.bits = bitcast <32 x i1> %out to i32",
            "  %out.active = and i32 %out.bits, %mask",
            "  %inside = icmp eq i32 %out.active, 0",
        ]
    return [
        *lines,
        "  %ok.1 = and i1 %fits, %big",
        "  %ok = and i1 %ok.1, %inside",
        "  br i1 %ok, label %test, label %slow",
        "test:",
    ]


def _stamps(test: Test) -> list[str]:
    """The new stamps, what old ones are compared with, and where they lie."""
    lanes = constant_vector("i64", (lane << layout.LANE_SHIFT for lane in range(32)))
    lines = [
        *_word("tag", layout.TAG),
        *_word("identity", layout.IDENTITY),
        *_word("floor", layout.FLOORS, by_warp=True),
        *_word("time", layout.TIMES, by_warp=True),
        f"  %time.at = shl i64 %time, {layout.TIME_SHIFT}",
        f"  %warp.at = shl i64 %warp64, {layout.WARP_SHIFT}",
        "  %s.1 = or i64 %tag, %time.at",
        "  %s.2 = or i64 %warp.at, %low_bits",
        "  %s.3 = or i64 %s.1, %s.2",
        *_splat("prefix", "%s.3"),
        f"  %stamps = or {_WHOLE} %prefix, {lanes}",
        "  %low = select i1 %is_shared, i64 %tag, i64 1",
        *_splat("lows", "%low"),
        *_splat("tags", "%tag"),
        *_splat("identities", "%identity"),
        "  %reach = sub i64 %floor, %tag",
        *_splat("reaches", "%reach"),
    ]
    if test.run:
        return [*lines, "  %cells.1 = lshr i64 %offset, %SHIFT", "  %cells = shl i64 %cells.1, 3"]
    return [
        *lines,
        *_splat("shifts", "%SHIFT"),
        f"  %cells.1 = lshr {_WHOLE} %offsets, %shifts",
        f"  %cells = shl {_WHOLE} %cells.1, splat (i64 3)",
    ]


def _fetch(test: Test, into: str, base: str) -> list[str]:
    """The stamps of one kind of every lane."""
    if test.run:
        return [
            f"  %{into}.a = add i64 {base}, %cells",
            f"  %{into}.p = inttoptr i64 %{into}.a to ptr",
            f"  %{into} = load {_WHOLE}, ptr %{into}.p, align 8",
        ]
    return [
        *_splat(f"{into}.b", base),
        f"  %{into}.a = add {_WHOLE} %{into}.b, %cells",
        f"  %{into}.p = inttoptr {_WHOLE} %{into}.a to <32 x ptr>",
        f"  %{into} = call {_WHOLE} @llvm.masked.gather.v32i64.v32p0("
        f"<32 x ptr> align 8 %{into}.p, <32 x i1> %lanes, {_WHOLE} zeroinitializer)",
    ]


def _put(test: Test, into: str) -> list[str]:
    if test.run:
        return [
            f"  call void @llvm.masked.store.v32i64.p0({_WHOLE} %stamps, ptr align 8 %{into}.p, "
            "<32 x i1> %lanes)"
        ]
    return [
        f"  call void @llvm.masked.scatter.v32i64.v32p0({_WHOLE} %stamps, <32 x ptr> align 8 %{into}.p, "
        "<32 x i1> %lanes)"
    ]


def _fine(name: str) -> list[str]:
    """`%NAME.bad`: the lanes whose old stamp is one to look at."""
    return [
        f"  %{name}.none = icmp ult {_WHOLE} %{name}, %lows",
        f"  %{name}.d = sub {_WHOLE} %{name}, %tags",
        f"  %{name}.before = icmp ult {_WHOLE} %{name}.d, %reaches",
        f"  %{name}.x = xor {_WHOLE} %{name}, %stamps",
        f"  %{name}.i = and {_WHOLE} %{name}.x, %identities",
        f"  %{name}.same = icmp eq {_WHOLE} %{name}.i, zeroinitializer",
        f"  %{name}.f1 = or <32 x i1> %{name}.none, %{name}.before",
        f"  %{name}.f2 = or <32 x i1> %{name}.f1, %{name}.same",
        f"  %{name}.fine = bitcast <32 x i1> %{name}.f2 to i32",
        f"  %{name}.odd = xor i32 %{name}.fine, -1",
        f"  %{name}.bad = and i32 %{name}.odd, %mask",
    ]


def _write_test(test: Test) -> list[str]:
    lines = [
        *_fetch(test, "w", "%WRITES"),
        *_fine("w"),
        # Behind a strong write may stand another that it hides.
        f"  %w.strength = and {_WHOLE} %w, splat (i64 {layout.STRENGTHS})",
        f"  %w.plain = icmp eq {_WHOLE} %w.strength, zeroinitializer",
        "  %w.open.1 = or <32 x i1> %w.plain, %w.none",
        "  %w.open = bitcast <32 x i1> %w.open.1 to i32",
        "  %w.hiding = xor i32 %w.open, -1",
        "  %w.strong = and i32 %w.hiding, %mask",
        "  %w.any = or i32 %w.bad, %w.strong",
    ]
    if test.write:
        return lines
    return [
        *lines,
        "  %w.empty = bitcast <32 x i1> %w.none to i32",
        "  %fresh = icmp ne i64 %FRESH, 0",
        "  %w.undefined = select i1 %fresh, i32 %w.empty, i32 0",
        "  %w.u = and i32 %w.undefined, %mask",
        "  %w.all = or i32 %w.any, %w.u",
    ]


def _reads(test: Test) -> list[str]:
    return [
        *_fetch(test, "r", "%READS"),
        *_fine("r"),
        "  %bad = or i32 %w.all, %r.bad",
        "  %pass = icmp eq i32 %bad, 0",
        "  br i1 %pass, label %store, label %slow",
        "store:",
        *_put(test, "r"),
    ]


def _readers(test: Test) -> list[str]:
    return [
        *_fetch(test, "r", "%READS"),
        *_fine("r"),
        "  %bad = or i32 %w.any, %r.bad",
        "  %pass = icmp eq i32 %bad, 0",
        "  %few = icmp eq i64 %MORE_READS, 0",
        "  %r.some = bitcast <32 x i1> %r.none to i32",
        "  %r.read = xor i32 %r.some, -1",
        "  %r.met = and i32 %r.read, %mask",
        "  %r.unread = icmp eq i32 %r.met, 0",
        "  %alone = or i1 %few, %r.unread",
        "  br i1 %pass, label %more, label %slow",
        "more:",
        "  br i1 %alone, label %store, label %others",
        "others:",
        f"  %near = icmp ult i64 %MORE_READS, {layout.FAR}",
        "  br i1 %near, label %near_ones, label %slow",
        "near_ones:",
        "  %LANE_READS.p = getelementptr i64, ptr %row, i64 " + str(layout.LANE_READS),
        "  %LANE_READS = load i64, ptr %LANE_READS.p",
        "  %OTHER_READS.p = getelementptr i64, ptr %row, i64 " + str(layout.OTHER_READS),
        "  %OTHER_READS = load i64, ptr %OTHER_READS.p",
        *_fetch(test, "n", "%LANE_READS"),
        *_fine("n"),
        *_fetch(test, "o", "%OTHER_READS"),
        *_fine("o"),
        "  %more.bad = or i32 %n.bad, %o.bad",
        "  %more.pass = icmp eq i32 %more.bad, 0",
        "  br i1 %more.pass, label %store, label %slow",
        "store:",
        *_put(test, "w"),
    ]


def _finish(test: Test) -> list[str]:
    if test.run:
        return ["  ret void"]
    # Lanes at one place: the last one's stamp stands there, the others are looked at one by one.
    kept = "w" if test.write else "r"
    return [
        f"  %back = call {_WHOLE} @llvm.masked.gather.v32i64.v32p0("
        f"<32 x ptr> align 8 %{kept}.p, <32 x i1> %lanes, {_WHOLE} %stamps)",
        f"  %lost = icmp ne {_WHOLE} %back, %stamps",
        "  %lost.bits = bitcast <32 x i1> %lost to i32",
        "  %lost.active = and i32 %lost.bits, %mask",
        "  %apart = icmp eq i32 %lost.active, 0",
        "  br i1 %apart, label %done, label %slow",
        "done:",
        "  ret void",
    ]


def _slow(test: Test, function: int, addresses: int) -> str:
    steps = constant_vector("i64", (lane * test.size for lane in range(32)))
    lines = [
        f"  %addresses.p = getelementptr i64, ptr %counters, i64 {addresses}",
        "  %addresses = ptrtoint ptr %addresses.p to i64",
    ]
    if test.run:
        lines += [*_splat("base", "%address"), f"  %every = add {_WHOLE} %base, {steps}"]
    else:
        lines += [f"  %every = add {_WHOLE} %address, zeroinitializer"]
    lines += [
        f"  store {_WHOLE} %every, ptr %addresses.p, align 8",
        f"  %function.p = getelementptr i64, ptr %counters, i64 {function}",
        "  %function = load ptr, ptr %function.p",
        "  %mask64 = zext i32 %mask to i64",
        "  call void %function(i64 %state, i64 %info, i64 %mask64, i64 %warp64, i64 %addresses, i64 %values)",
        "  ret void",
    ]
    return "\n".join(lines)

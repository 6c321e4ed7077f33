"""The search of a journal's list for entries that may meet a new one, as LLVM IR: `@wg_enter_apart`."""

from __future__ import annotations

from .....codegen.builder import Builder
from ... import layout

_SCAN = 16  # entries that are compared at once
_SCANNED, _SCAN_BITS = f"<{_SCAN} x i32>", f"i{_SCAN}"


def apart(declarations: set[str]) -> str:
    """The definition of what looks through a list for entries that meet a hull.

    Those of the same threads at the same places are no others. `%pattern` is where the lanes' offsets from
    `%base` are, 0 if two may be the same; `%log` is log2 of a lane's bytes if lanes lie side by side, else
    negative.
    """
    b = Builder(declarations)
    b.place("entry")
    words = {"count": layout.LIST_COUNT, "lows": layout.LIST_LOWS, "highs": layout.LIST_HIGHS}
    for name, word in words.items():
        b.emit(f"%{name} = load i64, ptr {b.offset('%list', 8 * word)}")
    for name in ("low", "high"):
        splat = b.splat("i32", b.value(f"trunc i64 %{name} to i32"), _SCAN)
        b.emit(f"%{name}s.new = bitcast {_SCANNED} {splat} to {_SCANNED}")
    b.jump("chunk")
    b.place("chunk")
    b.emit("%number = phi i64 [ 0, %entry ], [ %number.next, %next ]")
    b.emit("%left = sub i64 %count, %number")
    b.branch(b.value("icmp sle i64 %left, 0"), "fine", "compare")
    b.place("compare")
    held: list[str] = []
    for name in ("lows", "highs"):
        at = b.value(f"add i64 %{name}, {b.value('shl i64 %number, 2')}")
        held.append(b.load(_SCANNED, b.value(f"inttoptr i64 {at} to ptr"), ", align 4"))
    below = b.value(f"icmp slt {_SCANNED} {held[0]}, %highs.new")
    above = b.value(f"icmp sgt {_SCANNED} {held[1]}, %lows.new")
    both = b.value(f"and <{_SCAN} x i1> {below}, {above}")
    bits = b.value(f"zext {_SCAN_BITS} {b.mask_bits(both, _SCAN)} to i64")
    taken = b.call("i64", "llvm.umin.i64", [("i64", "%left"), ("i64", str(_SCAN))])
    some = b.value(f"sub i64 {b.value(f'shl i64 1, {taken}')}, 1")
    b.emit(f"%found = and i64 {bits}, {some}")
    b.jump("hit")
    b.place("hit")
    b.emit("%hits = phi i64 [ %found, %compare ], [ %hits.next, %own ]")
    b.branch(b.value("icmp eq i64 %hits, 0"), "next", "look")
    b.place("look")
    lowest = b.call("i64", "llvm.cttz.i64", [("i64", "%hits"), ("i1", "true")])
    b.emit(f"%hits.next = and i64 %hits, {b.value('sub i64 %hits, 1')}")
    row = b.value(f"mul i64 {b.value(f'add i64 %number, {lowest}')}, {8 * layout.ENTRY_WORDS}")
    entries = b.load("ptr", b.offset("%list", 8 * layout.LIST_ENTRIES))
    entry = b.offset(entries, row)
    stamp = b.load("i64", b.offset(entry, 8 * layout.ENTRY_STAMP))
    warp = b.value(f"and i64 {b.value(f'lshr i64 {stamp}, {layout.WARP_SHIFT}')}, {layout.WARPS - 1}")
    info = b.load("i64", b.offset(entry, 8 * layout.ENTRY_INFO))
    sizes = b.value(f"and i64 {b.value(f'xor i64 {info}, %info')}, 255")
    same = [
        b.value(f"icmp eq i64 {warp}, %warp"),
        b.value(f"icmp eq i64 {sizes}, 0"),
        b.value(f"icmp eq i64 {b.load('i64', b.offset(entry, 8 * layout.ENTRY_OFFSETS))}, %pattern"),
    ]
    warp_same, *alike = same
    like = alike[0]
    for other in alike[1:]:
        like = b.value(f"and i1 {like}, {other}")
    b.branch(like, "alike", "clash")
    b.place("alike")  # lanes have the same distances from an address
    moved = b.value(f"sub i64 {b.load('i64', b.offset(entry, 8 * layout.ENTRY_BASE))}, %base")
    still = b.value(f"icmp eq i64 {moved}, 0")
    b.branch(b.value(f"and i1 {warp_same}, {still}"), "own", "run")
    b.place("run")  # side by side: lane by lane, some lanes further
    lanes = b.value(f"ashr i64 {moved}, %log")
    acting = b.value(f"and i64 {b.load('i64', b.offset(entry, 8 * layout.ENTRY_MASK))}, {(1 << 32) - 1}")
    up = b.call("i64", "llvm.smax.i64", [("i64", lanes), ("i64", "0")])
    down = b.call("i64", "llvm.smax.i64", [("i64", b.value(f"sub i64 0, {lanes}")), ("i64", "0")])
    most = [b.call("i64", "llvm.umin.i64", [("i64", one), ("i64", "63")]) for one in (up, down)]
    there = b.value(f"lshr i64 {b.value(f'shl i64 {acting}, {most[0]}')}, {most[1]}")
    met = b.value(f"icmp ne i64 {b.value(f'and i64 {there}, %mask')}, 0")
    other = b.value("icmp slt i64 %log, 0")
    b.branch(b.value(f"or i1 {met}, {other}"), "clash", "own")
    b.place("own")
    b.jump("hit")
    b.place("next")
    b.emit(f"%number.next = add i64 %number, {_SCAN}")
    b.jump("chunk")
    b.place("fine")
    b.emit("ret i1 true")
    b.place("clash")
    b.emit("ret i1 false")
    body = "\n".join(b.lines)
    return f"""
define internal i1 @wg_enter_apart(
  ptr %S, ptr %list, i64 %low, i64 %high, i64 %warp, i64 %base, i64 %pattern, i64 %info, i64 %mask,
  i64 %log
) noinline #0 {{
{body}
}}
"""

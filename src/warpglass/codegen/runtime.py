"""Helpers that generated code calls where it leaves the fast path, as LLVM IR.

`wg_load_lanes` and `wg_store_lanes` serve the active lanes of an access: the lowest lane's address is looked
up in the range table (sorted by base), checked for permission, bounds and alignment, and its bytes copied
between host memory and the lane buffer, with those of all others that lie in the same range, as where lanes
choose between two arrays; stores keep the lanes' order. Generic addresses of local memory are the lane's own
words, interleaved as local.py says. The range that was looked up last becomes the site's; its own limit is
that for the first of elements of which the last lies so many `behind` it.
They return true, with the fault words of the context filled in, if a lane may not.
"""

from __future__ import annotations

from .builder import Builder, widened
from .context import GENERIC_ONLY, LOCAL_WINDOW, READ, SITE_WORD, SITE_WORDS, SLOT, WRITE
from .memory.streaming import REMEMBER

_FIND = f"""
define internal ptr @wg_find_range(
  ptr %context, i64 %address, i64 %size, i64 %need, i1 %generic
) noinline cold #0 {{
entry:
  %ranges.p = getelementptr i64, ptr %context, i64 {SLOT["ranges"]}
  %ranges = load ptr, ptr %ranges.p
  %count.p = getelementptr i64, ptr %context, i64 {SLOT["range_count"]}
  %count = load i64, ptr %count.p
  br label %search
search:
  %low = phi i64 [ 0, %entry ], [ %low.next, %narrow ]
  %high = phi i64 [ %count, %entry ], [ %high.next, %narrow ]
  %more = icmp ult i64 %low, %high
  br i1 %more, label %narrow, label %found
narrow:
  %sum = add i64 %low, %high
  %middle = lshr i64 %sum, 1
  %entry.p = getelementptr [4 x i64], ptr %ranges, i64 %middle
  %base = load i64, ptr %entry.p
  %below = icmp ule i64 %base, %address
  %after = add i64 %middle, 1
  %low.next = select i1 %below, i64 %after, i64 %low
  %high.next = select i1 %below, i64 %high, i64 %middle
  br label %search
found:
  %none = icmp eq i64 %low, 0
  br i1 %none, label %fail, label %test
test:
  %index = sub i64 %low, 1
  %range = getelementptr [4 x i64], ptr %ranges, i64 %index
  %first = load i64, ptr %range
  %bytes.p = getelementptr i64, ptr %range, i64 1
  %bytes = load i64, ptr %bytes.p
  %permissions.p = getelementptr i64, ptr %range, i64 3
  %permissions = load i64, ptr %permissions.p
  %distance = sub i64 %address, %first
  %end = add i64 %distance, %size
  %inside = icmp ule i64 %end, %bytes
  %low.bits = sub i64 %size, 1
  %rest = and i64 %address, %low.bits
  %aligned = icmp eq i64 %rest, 0
  %granted = and i64 %permissions, %need
  %allowed = icmp eq i64 %granted, %need
  %window = and i64 %permissions, {GENERIC_ONLY}
  %plain = icmp eq i64 %window, 0
  %reachable = or i1 %plain, %generic
  %a = and i1 %inside, %aligned
  %b = and i1 %allowed, %reachable
  %ok = and i1 %a, %b
  br i1 %ok, label %good, label %fail
good:
  ret ptr %range
fail:
  ret ptr null
}}
"""

# How a helper says that a lane may not access an address.
FAULT = f"""  %fault.site = getelementptr i64, ptr %context, i64 {SLOT["fault_site"]}
  store i64 %site, ptr %fault.site
  %fault.lane = getelementptr i64, ptr %context, i64 {SLOT["fault_lane"]}
  store i64 %lane.wide, ptr %fault.lane
  %fault.address = getelementptr i64, ptr %context, i64 {SLOT["fault_address"]}
  store i64 %address, ptr %fault.address
  ret i1 true
"""

# How it leaves the lane out and says so, where observers want the kernel to go on.
_REFUSE = f"""  %refused.p = getelementptr i64, ptr %context, i64 {SLOT["refused"]}
  %refused.before = load i64, ptr %refused.p
  %refused.lane = shl i64 1, %lane.wide
  %refused.now = or i64 %refused.before, %refused.lane
  store i64 %refused.now, ptr %refused.p
"""
_SOMEONE_REFUSED = f"""  %refused.all.p = getelementptr i64, ptr %context, i64 {SLOT["refused"]}
  %refused.all = load i64, ptr %refused.all.p
  %refused.any = icmp ne i64 %refused.all, 0
  ret i1 %refused.any"""


def endings(goes_on: str) -> dict[str, str]:
    """How a helper ends when all lanes are served, and for one that is not: `goes_on` is where the next are.

    Without such a label the kernel stops.
    """
    if not goes_on:
        return {"done": "  ret i1 false", "fault": FAULT}
    stored = FAULT.removesuffix("  ret i1 true\n")
    return {"done": _SOMEONE_REFUSED, "fault": f"{stored}{_REFUSE}  br label %{goes_on}\n"}


_SERVE = """
define internal i1 @wg_{verb}_lanes(
  ptr %context, i64 %site, i64 %size, i64 %behind, i1 %generic, {lanes} %mask, ptr %addresses, ptr %buffer
) noinline cold #0 {{
entry:
  %none = icmp eq {lanes} %mask, 0
  br i1 %none, label %done, label %lanes
lanes:
  %rest = phi {lanes} [ %mask, %entry ], [ %rest.next, %reached ]
  %lane = call {lanes} @llvm.cttz.{lanes}({lanes} %rest, i1 true)
  %lane.wide = {lane_wide}
  %address.p = getelementptr i64, ptr %addresses, i64 %lane.wide
  %address = load i64, ptr %address.p
  %range = call ptr @wg_find_range(ptr %context, i64 %address, i64 %size, i64 {need}, i1 %generic)
  %missing = icmp eq ptr %range, null
  br i1 %missing, label %{absent}, label %share
{elsewhere}share:
  %base = load i64, ptr %range
  %bytes.all.p = getelementptr i64, ptr %range, i64 1
  %bytes.all = load i64, ptr %bytes.all.p
  %delta.p = getelementptr i64, ptr %range, i64 2
  %delta = load i64, ptr %delta.p
{sharing}
  br label %copy
copy:
  %left = phi {lanes} [ {sharers}, %share ], [ %left.next, %copy ]
  %one = call {lanes} @llvm.cttz.{lanes}({lanes} %left, i1 true)
  %one.wide = {one_wide}
  %one.address.p = getelementptr i64, ptr %addresses, i64 %one.wide
  %one.address = load i64, ptr %one.address.p
  %host = add i64 %one.address, %delta
  %host.p = inttoptr i64 %host to ptr
  %place = mul i64 %one.wide, %size
  %lane.p = getelementptr i8, ptr %buffer, i64 %place
  call void @llvm.memcpy.p0.p0.i64(ptr {target}, ptr {source}, i64 %size, i1 false)
  %left.minus = sub {lanes} %left, 1
  %left.next = and {lanes} %left, %left.minus
  %copied = icmp eq {lanes} %left.next, 0
  br i1 %copied, label %shared, label %copy
shared:
  br label %reached
{alone}reached:
  %acted = phi {lanes} [ {sharers}, %shared ]{acted_alone}
  %rest.next = xor {lanes} %rest, %acted
  %last = icmp eq {lanes} %rest.next, 0
  br i1 %last, label %leave, label %lanes
leave:
  {leave}
remember:
  %sites.p = getelementptr i64, ptr %context, i64 {sites}
  %sites = load ptr, ptr %sites.p
  %site.p = getelementptr [{site_words} x i64], ptr %sites, i64 %site
  %low = load i64, ptr %range
  store i64 %low, ptr %site.p
  %bytes.p = getelementptr i64, ptr %range, i64 1
  %bytes = load i64, ptr %bytes.p
  %log = call i64 @llvm.cttz.i64(i64 %size, i1 true)
  %limit = lshr i64 %bytes, %log
  %limit.p = getelementptr i64, ptr %site.p, i64 1
  store i64 %limit, ptr %limit.p
  %limit.run = call i64 @llvm.usub.sat.i64(i64 %limit, i64 %behind)
  %limit.run.p = getelementptr i64, ptr %site.p, i64 4
  store i64 %limit.run, ptr %limit.run.p
  %distance.p = getelementptr i64, ptr %range, i64 2
  %distance = load i64, ptr %distance.p
  %remembered.p = getelementptr i64, ptr %site.p, i64 2
  store i64 %distance, ptr %remembered.p
{further}
  br label %done
done:
{done}
fault:
{fault}}}
"""

# Where a lane has been served by itself.
_ALONE = """alone:
  %minus = sub {lanes} 0, %rest
  %lowest = and {lanes} %rest, %minus
  br label %reached
"""

# What no range has may be local memory, where generic pointers reach that.
_ELSEWHERE = """elsewhere:
  %offset = sub i64 %address, {window}
  %end = add i64 %offset, %size
  %begins = icmp ult i64 %offset, {local}
  %ends = icmp ule i64 %end, {local}
  %low.bits = sub i64 %size, 1
  %skew = and i64 %offset, %low.bits
  %straight = icmp eq i64 %skew, 0
  %within = and i1 %begins, %ends
  %fits = and i1 %within, %straight
  %served = and i1 %fits, %generic
  br i1 %served, label %own, label %fault
own:
  %own.p = getelementptr i64, ptr %context, i64 {warp_local}
  %own.start = load ptr, ptr %own.p
  %piece = call i64 @llvm.umin.i64(i64 %size, i64 4)
  %lane.offset = shl i64 %lane.wide, 2
  %own.place = mul i64 %lane.wide, %size
  br label %words
words:
  %k = phi i64 [ 0, %own ], [ %k.next, %words ]
  %at = add i64 %offset, %k
  %word = and i64 %at, -4
  %byte = and i64 %at, 3
  %row = shl i64 %word, 5
  %row.lane = add i64 %row, %lane.offset
  %row.byte = add i64 %row.lane, %byte
  %word.p = getelementptr i8, ptr %own.start, i64 %row.byte
  %piece.at = add i64 %own.place, %k
  %piece.p = getelementptr i8, ptr %buffer, i64 %piece.at
  call void @llvm.memcpy.p0.p0.i64(ptr {piece_target}, ptr {piece_source}, i64 %piece, i1 false)
  %k.next = add i64 %k, %piece
  %k.more = icmp ult i64 %k.next, %size
  br i1 %k.more, label %words, label %alone
"""

_SYSTEM = f"""
define internal i1 @wg_system(
  ptr %context, i64 %site, i64 %service, i32 %mask, i32 %warp, i64 %block, ptr %buffer
) noinline cold #0 {{
  %system.p = getelementptr i64, ptr %context, i64 {SLOT["system"]}
  %system = load ptr, ptr %system.p
  %lanes = zext i32 %mask to i64
  %number = zext i32 %warp to i64
  %site.p = getelementptr i64, ptr %buffer, i64 {SITE_WORD}
  store i64 %site, ptr %site.p
  %code = call i64 %system(i64 %service, i64 %lanes, i64 %number, i64 %block, ptr %buffer)
  %lane = sub i64 %code, 1
  %bad = icmp ne i64 %code, 0
  br i1 %bad, label %fault, label %done
done:
  ret i1 false
fault:
  %fault.site = getelementptr i64, ptr %context, i64 {SLOT["fault_site"]}
  store i64 %site, ptr %fault.site
  %fault.lane = getelementptr i64, ptr %context, i64 {SLOT["fault_lane"]}
  store i64 %lane, ptr %fault.lane
  ret i1 true
}}
"""


def _sharing(width: int, *, ordered: bool) -> tuple[str, str]:
    """The code that finds which lanes of `%rest` lie in the range of the lowest, and the name of their mask.

    Where they act in their order, only those before the first one elsewhere do.
    """
    b = Builder(set(), width)
    words = b.vector("i64")
    every = b.load(words, "%addresses", ", align 8")
    room = b.splat("i64", b.value("sub i64 %bytes.all, %size"))
    distance = b.value(f"sub {words} {every}, {b.splat('i64', '%base')}")
    inside = b.value(f"icmp ule {words} {distance}, {room}")
    low = b.splat("i64", b.value("sub i64 %size, 1"))
    aligned = b.value(f"icmp eq {words} {b.value(f'and {words} {every}, {low}')}, zeroinitializer")
    fit = b.value(f"and {b.vector('i1')} {inside}, {aligned}")
    sharers = b.votes(fit, "%rest")
    if ordered:
        others = b.value(f"xor {b.lanes} %rest, {sharers}")
        nearest = b.value(f"and {b.lanes} {others}, {b.value(f'sub {b.lanes} 0, {others}')}")
        sharers = b.value(f"and {b.lanes} {sharers}, {b.value(f'sub {b.lanes} {nearest}, 1')}")
    return "\n".join(b.lines), sharers


def helpers(local: int, width: int, *, streaming: bool, refusing: bool) -> str:
    """The helpers' definitions.

    `local` are the bytes of local memory that generic pointers may reach; `streaming` says whether stores may
    go past the caches, `refusing` whether a lane that may not access an address is left out.
    """
    words = {"site_words": SITE_WORDS, "sites": SLOT["sites"], **endings("alone" if refusing else "")}
    words |= {"lanes": f"i{width}", "lane_wide": widened("%lane", width), "one_wide": widened("%one", width)}
    words["absent"] = "elsewhere" if local else "fault"
    skips = local or refusing
    words["alone"] = _ALONE.format(lanes=f"i{width}") if skips else ""
    words["acted_alone"] = ", [ %lowest, %alone ]" if skips else ""
    words["leave"] = "br i1 %missing, label %done, label %remember" if skips else "br label %remember"
    found: list[str] = []
    for verb, need, further in (("load", READ, ""), ("store", WRITE, REMEMBER if streaming else "")):
        to, of = ("lane", "host") if verb == "load" else ("host", "lane")
        piece_to, piece_of = ("piece", "word") if verb == "load" else ("word", "piece")
        elsewhere = _ELSEWHERE.format(
            local=local,
            window=LOCAL_WINDOW,
            warp_local=SLOT["warp_local"],
            piece_target=f"%{piece_to}.p",
            piece_source=f"%{piece_of}.p",
        )
        sharing, sharers = _sharing(width, ordered=verb == "store")
        found.append(
            _SERVE.format(
                verb=verb,
                need=need,
                further=further,
                sharing=sharing,
                sharers=sharers,
                target=f"%{to}.p",
                source=f"%{of}.p",
                elsewhere=elsewhere if local else "",
                **words,
            )
        )
    return "".join((_FIND, *found, _SYSTEM))


DECLARATIONS = frozenset(
    {
        "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)",
        "declare i32 @llvm.cttz.i32(i32, i1)",
        "declare i64 @llvm.cttz.i64(i64, i1)",
        "declare i64 @llvm.smin.i64(i64, i64)",
        "declare i64 @llvm.umax.i64(i64, i64)",
        "declare i64 @llvm.umin.i64(i64, i64)",
        "declare i64 @llvm.usub.sat.i64(i64, i64)",
    }
)

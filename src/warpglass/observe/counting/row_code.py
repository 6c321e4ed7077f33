"""The rules of rules.py as generated code: `@wg_row_RULE_SIZE(addresses, mask)` computes the four numbers.

Belongs here: what plain loads and stores cost; atomic_code.py has the rules of atomic operations. Lanes that
do not act have the address of one that does.
"""

from __future__ import annotations

from ...codegen.builder import constant_vector


def splat(value: str, into: str, type_: str = "i64") -> str:
    """Instructions that put a scalar into every lane of a vector."""
    whole = f"<32 x {type_}>"
    return f"""%{into}.one = insertelement {whole} poison, {type_} {value}, i32 0
  %{into} = shufflevector {whole} %{into}.one, {whole} poison, <32 x i32> zeroinitializer"""


DISTINCT = f"""
define internal i64 @wg_distinct(<32 x i64> %ids, i32 %mask) noinline #0 {{
entry:
  %buffer = alloca <32 x i64>, align 64
  %lanes = bitcast i32 %mask to <32 x i1>
  %for.low = select <32 x i1> %lanes, <32 x i64> %ids, <32 x i64> splat (i64 -1)
  %low = call i64 @llvm.vector.reduce.umin.v32i64(<32 x i64> %for.low)
  {splat("%low", "lows")}
  %from.low = sub <32 x i64> %ids, %lows
  %distance = select <32 x i1> %lanes, <32 x i64> %from.low, <32 x i64> zeroinitializer
  %reach = call i64 @llvm.vector.reduce.or.v32i64(<32 x i64> %distance)
  %dense = icmp ult i64 %reach, 64
  br i1 %dense, label %bitmap, label %start
bitmap:
  %marks.all = shl <32 x i64> splat (i64 1), %distance
  %marks = select <32 x i1> %lanes, <32 x i64> %marks.all, <32 x i64> zeroinitializer
  %map = call i64 @llvm.vector.reduce.or.v32i64(<32 x i64> %marks)
  %few = call i64 @llvm.ctpop.i64(i64 %map)
  ret i64 %few
start:
  store <32 x i64> %ids, ptr %buffer
  br label %next
next:
  %rest = phi i32 [ %mask, %start ], [ %rest.next, %next ]
  %count = phi i64 [ 0, %start ], [ %count.next, %next ]
  %lane = call i32 @llvm.cttz.i32(i32 %rest, i1 true)
  %id.p = getelementptr i64, ptr %buffer, i32 %lane
  %id = load i64, ptr %id.p
  {splat("%id", "same")}
  %differs = icmp ne <32 x i64> %ids, %same
  %others = bitcast <32 x i1> %differs to i32
  %rest.next = and i32 %rest, %others
  %count.next = add i64 %count, 1
  %more = icmp ne i32 %rest.next, 0
  br i1 %more, label %next, label %done
done:
  ret i64 %count.next
}}
"""


def _row_bitmaps() -> str:
    """The banks in use of each of four rows."""
    lines = ["%r0 = sub <32 x i64> %all.banks, %all.banks"]
    for k in range(4):
        lines.append(f"%in{k} = icmp eq <32 x i64> %bank.first, %r{k}")
        lines.append(f"%of{k} = select <32 x i1> %in{k}, <32 x i32> %bit, <32 x i32> zeroinitializer")
        lines.append(f"%b{k} = call i32 @llvm.vector.reduce.or.v32i32(<32 x i32> %of{k})")
        lines.append(f"%r{k + 1} = add <32 x i64> %r{k}, %all.banks")
    return "\n  ".join(lines)


_ROW_BITMAPS = _row_bitmaps()

# The most distinct granules that any of `banks` banks must give to the lanes of a mask.
PASSES = f"""
define internal i64 @wg_passes(<32 x i64> %granules, i32 %mask, i64 %banks) noinline #0 {{
entry:
  %buffer = alloca <32 x i64>, align 64
  %counts = alloca <32 x i8>, align 32
  %none = icmp eq i32 %mask, 0
  br i1 %none, label %empty, label %some
empty:
  ret i64 0
some:
  %lanes = bitcast i32 %mask to <32 x i1>
  %for.low = select <32 x i1> %lanes, <32 x i64> %granules, <32 x i64> splat (i64 -1)
  %for.high = select <32 x i1> %lanes, <32 x i64> %granules, <32 x i64> zeroinitializer
  %low = call i64 @llvm.vector.reduce.umin.v32i64(<32 x i64> %for.low)
  %high = call i64 @llvm.vector.reduce.umax.v32i64(<32 x i64> %for.high)
  %span = sub i64 %high, %low
  %apart = icmp ult i64 %span, %banks
  br i1 %apart, label %once, label %measure
once:
  ret i64 1
measure:
  %wrap.low = sub i64 %banks, 1
  %in.row = and i64 %low, %wrap.low
  %start.row = sub i64 %low, %in.row
  %reach = sub i64 %high, %start.row
  %four = shl i64 %banks, 2
  %near = icmp ult i64 %reach, %four
  br i1 %near, label %rows, label %start
rows:
  {splat("%start.row", "starts")}
  {splat("%wrap.low", "wraps")}
  {splat("%banks", "all.banks")}
  %from.start = sub <32 x i64> %granules, %starts
  %in.bank = and <32 x i64> %from.start, %wraps
  %bank.first = sub <32 x i64> %from.start, %in.bank
  %bit.wide = shl <32 x i64> splat (i64 1), %in.bank
  %bit.all = trunc <32 x i64> %bit.wide to <32 x i32>
  %bit = select <32 x i1> %lanes, <32 x i32> %bit.all, <32 x i32> zeroinitializer
  {_ROW_BITMAPS}
  %x = and i32 %b0, %b1
  %y = and i32 %b2, %b3
  %o = or i32 %b0, %b1
  %p = or i32 %b2, %b3
  %xy = and i32 %x, %y
  %xp = and i32 %x, %p
  %oy = and i32 %o, %y
  %op = and i32 %o, %p
  %three = or i32 %xp, %oy
  %two.0 = or i32 %x, %y
  %two = or i32 %two.0, %op
  %is.two = icmp ne i32 %two, 0
  %is.three = icmp ne i32 %three, 0
  %is.four = icmp ne i32 %xy, 0
  %upto.2 = select i1 %is.two, i64 2, i64 1
  %upto.3 = select i1 %is.three, i64 3, i64 %upto.2
  %upto.4 = select i1 %is.four, i64 4, i64 %upto.3
  ret i64 %upto.4
start:
  store <32 x i64> %granules, ptr %buffer
  store <32 x i8> zeroinitializer, ptr %counts
  %wrap = sub i64 %banks, 1
  br label %next
next:
  %rest = phi i32 [ %mask, %start ], [ %rest.next, %next ]
  %lane = call i32 @llvm.cttz.i32(i32 %rest, i1 true)
  %id.p = getelementptr i64, ptr %buffer, i32 %lane
  %id = load i64, ptr %id.p
  %bank = and i64 %id, %wrap
  %count.p = getelementptr i8, ptr %counts, i64 %bank
  %count = load i8, ptr %count.p
  %count.next = add i8 %count, 1
  store i8 %count.next, ptr %count.p
  {splat("%id", "same")}
  %differs = icmp ne <32 x i64> %granules, %same
  %others = bitcast <32 x i1> %differs to i32
  %rest.next = and i32 %rest, %others
  %more = icmp ne i32 %rest.next, 0
  br i1 %more, label %next, label %done
done:
  %all = load <32 x i8>, ptr %counts
  %most = call i8 @llvm.vector.reduce.umax.v32i8(<32 x i8> %all)
  %passes = zext i8 %most to i64
  ret i64 %passes
}}
"""


def signed(mask: int) -> int:
    """A mask of 32 lanes as LLVM writes an i32."""
    return mask if mask < 1 << 31 else mask - (1 << 32)


def row(numbers: list[str], into: str = "") -> str:
    """Instructions that make four i64 values a row: one of that name, or the function's result."""
    lines = ["%row0 = insertelement <4 x i64> poison, i64 " + numbers[0] + ", i32 0"]
    for k in (1, 2, 3):
        name = into if into and k == 3 else f"%row{k}"
        lines.append(f"{name} = insertelement <4 x i64> %row{k - 1}, i64 {numbers[k]}, i32 {k}")
    return "\n  ".join(lines if into else [*lines, "ret <4 x i64> %row3"])


def global_row(size: int) -> str:
    """Bitmaps of sectors and elements while they fit 64 bits, one by one beyond."""
    log = size.bit_length() - 1
    return f"""
define internal <4 x i64> @wg_row_global_{size}(<32 x i64> %a, i32 %mask) noinline #0 {{
entry:
  %active = call i32 @llvm.ctpop.i32(i32 %mask)
  %most = zext i32 %active to i64
  %low = call i64 @llvm.vector.reduce.umin.v32i64(<32 x i64> %a)
  %high = call i64 @llvm.vector.reduce.umax.v32i64(<32 x i64> %a)
  %start = and i64 %low, -128
  %span = sub i64 %high, %start
  %near = icmp ult i64 %span, 2048
  br i1 %near, label %bitmap, label %far
bitmap:
  {splat("%start", "starts")}
  %distance = sub <32 x i64> %a, %starts
  %sector = lshr <32 x i64> %distance, splat (i64 5)
  %bits = shl <32 x i64> splat (i64 1), %sector
  %map = call i64 @llvm.vector.reduce.or.v32i64(<32 x i64> %bits)
  %sectors.near = call i64 @llvm.ctpop.i64(i64 %map)
  %map.1 = lshr i64 %map, 1
  %map.a = or i64 %map, %map.1
  %map.2 = lshr i64 %map.a, 2
  %map.b = or i64 %map.a, %map.2
  %map.c = and i64 %map.b, 1229782938247303441
  %lines.near = call i64 @llvm.ctpop.i64(i64 %map.c)
  %reach = sub i64 %high, %low
  %reach.elements = lshr i64 %reach, {log}
  %dense = icmp ult i64 %reach.elements, 64
  br i1 %dense, label %elements, label %sparse
elements:
  {splat("%low", "lows")}
  %from.low = sub <32 x i64> %a, %lows
  %number = lshr <32 x i64> %from.low, splat (i64 {log})
  %marks = shl <32 x i64> splat (i64 1), %number
  %element.map = call i64 @llvm.vector.reduce.or.v32i64(<32 x i64> %marks)
  %elements.near = call i64 @llvm.ctpop.i64(i64 %element.map)
  br label %end
far:
  %sector.far = lshr <32 x i64> %a, splat (i64 5)
  %sectors.far = call i64 @wg_distinct(<32 x i64> %sector.far, i32 %mask)
  %line.far = lshr <32 x i64> %a, splat (i64 7)
  %lines.far = call i64 @wg_distinct(<32 x i64> %line.far, i32 %mask)
  br label %sparse
sparse:
  %sectors.s = phi i64 [ %sectors.near, %bitmap ], [ %sectors.far, %far ]
  %lines.s = phi i64 [ %lines.near, %bitmap ], [ %lines.far, %far ]
  %apart = icmp eq i64 %sectors.s, %most
  br i1 %apart, label %end, label %one_by_one
one_by_one:
  %whole = lshr <32 x i64> %a, splat (i64 {log})
  %elements.far = call i64 @wg_distinct(<32 x i64> %whole, i32 %mask)
  br label %end
end:
  %sectors = phi i64 [ %sectors.near, %elements ], [ %sectors.s, %sparse ], [ %sectors.s, %one_by_one ]
  %lines = phi i64 [ %lines.near, %elements ], [ %lines.s, %sparse ], [ %lines.s, %one_by_one ]
  %count = phi i64 [ %elements.near, %elements ], [ %most, %sparse ], [ %elements.far, %one_by_one ]
  %bytes = shl i64 %count, {log}
  {row(["1", "%sectors", "%lines", "%bytes"])}
}}
"""


def shared_row(rule: str, size: int, lanes_in_use: int = 32) -> str:
    """Wavefronts group by group; loads of 8 bytes and more try whether groups fuse."""
    count = max(1, size // 4)
    log = max(size, 4).bit_length() - 1
    lanes = 32 // count
    lines: list[str] = []

    def passes(name: str, start: int, number: int) -> None:
        part = ((1 << number) - 1) << start
        lines.append(f"%{name}.m = and i32 %mask, {signed(part)}")
        call = f"call i64 @wg_passes(<32 x i64> %granule, i32 %{name}.m, i64 {32 // count})"
        lines.append(f"%{name} = {call}")

    def total(into: str, names: list[str]) -> None:
        """The sum of some passes, how many are not zero, and their maximum."""
        lines.append(
            f"%{into}.sum0 = add i64 0, 0\n  %{into}.least0 = add i64 0, 0\n  %{into}.top0 = add i64 0, 0"
        )
        for k, name in enumerate(names):
            lines.append(f"%{into}.sum{k + 1} = add i64 %{into}.sum{k}, %{name}")
            lines.append(f"%{into}.some{k} = icmp ne i64 %{name}, 0")
            lines.append(f"%{into}.one{k} = zext i1 %{into}.some{k} to i64")
            lines.append(f"%{into}.least{k + 1} = add i64 %{into}.least{k}, %{into}.one{k}")
            lines.append(f"%{into}.over{k} = icmp ugt i64 %{name}, %{into}.top{k}")
            lines.append(f"%{into}.top{k + 1} = select i1 %{into}.over{k}, i64 %{name}, i64 %{into}.top{k}")

    groups = [f"g{k}" for k in range(count)]
    for k, name in enumerate(groups):
        passes(name, k * lanes, lanes)
    total("plain", groups)
    wavefronts, least = f"%plain.sum{count}", f"%plain.least{count}"
    if rule == "shared_load" and count > 1:
        pairs = [f"f{k}" for k in range(count // 2)]
        for k, name in enumerate(pairs):
            passes(name, 2 * k * lanes, 2 * lanes)
        total("fused", pairs)
        half = count // 2
        for distance in (1, 2):
            swap = constant_vector("i32", (lane ^ distance for lane in range(32)))
            at = f"near{distance}"
            lines.append(
                f"%{at} = shufflevector <32 x i64> %a, <32 x i64> poison, <32 x i32> {swap}\n"
                f"  %{at}.on = shufflevector <32 x i1> %lanes, <32 x i1> poison, <32 x i32> {swap}\n"
                f"  %{at}.ne = icmp ne <32 x i64> %{at}, %a\n"
                f"  %{at}.both = and <32 x i1> %{at}.ne, %{at}.on\n"
                f"  %{at}.bad = and <32 x i1> %{at}.both, %lanes\n"
                f"  %{at}.bits = bitcast <32 x i1> %{at}.bad to i32\n"
                f"  %{at}.ok = icmp eq i32 %{at}.bits, 0"
            )
        lines.append(
            f"%mirrored = or i1 %near1.ok, %near2.ok\n  %flat = icmp ule i64 %fused.top{half}, 1\n"
            f"  %fuses = and i1 %mirrored, %flat\n"
            f"  %waves = select i1 %fuses, i64 %fused.sum{half}, i64 {wavefronts}\n"
            f"  %floor = select i1 %mirrored, i64 %fused.least{half}, i64 {least}"
        )
        wavefronts, least = "%waves", "%floor"
    body = "\n  ".join(lines)
    return f"""
define internal <4 x i64> @wg_row_{rule}_{size}(<32 x i64> %a, i32 %mask.all) noinline #0 {{
entry:
  %mask = and i32 %mask.all, {signed((1 << lanes_in_use) - 1)}
  %lanes = bitcast i32 %mask to <32 x i1>
  {_one_row(size) if size in (2, 4) else ""}
  %granule = lshr <32 x i64> %a, splat (i64 {log})
  {body}
  %active = call i32 @llvm.ctpop.i32(i32 %mask)
  %active.wide = zext i32 %active to i64
  %asked = mul i64 %active.wide, {size}
  %asked.more = add i64 %asked, 127
  %full = lshr i64 %asked.more, 7
  %fewer = icmp ult i64 %full, {wavefronts}
  %ideal = select i1 %fewer, i64 %full, i64 {wavefronts}
  %element = lshr <32 x i64> %a, splat (i64 {size.bit_length() - 1})
  %elements = call i64 @wg_distinct(<32 x i64> %element, i32 %mask)
  %bytes = shl i64 %elements, {size.bit_length() - 1}
  {row(["%ideal", wavefronts, least, "%bytes"])}
}}
"""


def _one_row(size: int) -> str:
    """A way out where all lanes are within 128 bytes: nobody shares a bank with another word."""
    return f"""%low = call i64 @llvm.vector.reduce.umin.v32i64(<32 x i64> %a)
  {splat("%low", "lows")}
  %from.low = sub <32 x i64> %a, %lows
  %reach = call i64 @llvm.vector.reduce.or.v32i64(<32 x i64> %from.low)
  %start = and i64 %low, 127
  %end = add i64 %start, %reach
  %close = icmp ult i64 %end, 128
  br i1 %close, label %quick, label %thorough
quick:
  %number = lshr <32 x i64> %from.low, splat (i64 {size.bit_length() - 1})
  %marks = shl <32 x i64> splat (i64 1), %number
  %map = call i64 @llvm.vector.reduce.or.v32i64(<32 x i64> %marks)
  %few = call i64 @llvm.ctpop.i64(i64 %map)
  %few.bytes = shl i64 %few, {size.bit_length() - 1}
  %quick0 = insertelement <4 x i64> <i64 1, i64 1, i64 1, i64 0>, i64 %few.bytes, i32 3
  ret <4 x i64> %quick0
thorough:"""


def local_row(size: int) -> str:
    """Sectors by groups of eight lanes, which share one where they are in the same row."""
    words = max(1, size // 4)
    lines: list[str] = []
    for octet in range(4):
        lines.append(f"%m{octet} = and i32 %mask, {signed(0xFF << (8 * octet))}")
        lines.append(f"%n{octet} = call i64 @wg_distinct(<32 x i64> %row, i32 %m{octet})")
    body = "\n  ".join(lines)
    return f"""
define internal <4 x i64> @wg_row_local_{size}(<32 x i64> %a, i32 %mask) noinline #0 {{
  %row = lshr <32 x i64> %a, splat (i64 {max(size, 4).bit_length() - 1})
  {body}
  %n01 = add i64 %n0, %n1
  %n23 = add i64 %n2, %n3
  %n = add i64 %n01, %n23
  %sectors = mul i64 %n, {words}
  %rows = call i64 @wg_distinct(<32 x i64> %row, i32 %mask)
  %lines = mul i64 %rows, {words}
  %element = lshr <32 x i64> %a, splat (i64 {size.bit_length() - 1})
  %elements = call i64 @wg_distinct(<32 x i64> %element, i32 %mask)
  %bytes = shl i64 %elements, {size.bit_length() - 1}
  {row([str(words), "%sectors", "%lines", "%bytes"])}
}}
"""

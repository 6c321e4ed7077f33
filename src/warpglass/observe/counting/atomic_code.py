"""The rules of atomic operations as generated code; see row_code.py."""

from __future__ import annotations

from .row_code import row, signed, splat

# The lanes of a mask that are the first of it with their number.
_FIRST = f"""
define internal i32 @wg_first(<32 x i64> %ids, i32 %mask) noinline #0 {{
entry:
  %buffer = alloca <32 x i64>, align 64
  store <32 x i64> %ids, ptr %buffer
  br label %test
test:
  %rest = phi i32 [ %mask, %entry ], [ %rest.next, %next ]
  %firsts = phi i32 [ 0, %entry ], [ %firsts.next, %next ]
  %more = icmp ne i32 %rest, 0
  br i1 %more, label %next, label %done
next:
  %lane = call i32 @llvm.cttz.i32(i32 %rest, i1 true)
  %bit = shl i32 1, %lane
  %firsts.next = or i32 %firsts, %bit
  %id.p = getelementptr i64, ptr %buffer, i32 %lane
  %id = load i64, ptr %id.p
  {splat("%id", "same")}
  %differs = icmp ne <32 x i64> %ids, %same
  %others = bitcast <32 x i1> %differs to i32
  %rest.next = and i32 %rest, %others
  br label %test
done:
  ret i32 %firsts
}}
"""

# Sectors and lines of the rounds in which the lanes of a mask have each address once.
_ROUNDS = """
define internal <2 x i64> @wg_rounds(<32 x i64> %a, i32 %mask) noinline #0 {
entry:
  %sector = lshr <32 x i64> %a, splat (i64 5)
  %line = lshr <32 x i64> %a, splat (i64 7)
  br label %test
test:
  %rest = phi i32 [ %mask, %entry ], [ %rest.next, %next ]
  %sum = phi <2 x i64> [ zeroinitializer, %entry ], [ %sum.next, %next ]
  %more = icmp ne i32 %rest, 0
  br i1 %more, label %next, label %done
next:
  %now = call i32 @wg_first(<32 x i64> %a, i32 %rest)
  %sectors = call i64 @wg_distinct(<32 x i64> %sector, i32 %now)
  %lines = call i64 @wg_distinct(<32 x i64> %line, i32 %now)
  %one = insertelement <2 x i64> poison, i64 %sectors, i32 0
  %both = insertelement <2 x i64> %one, i64 %lines, i32 1
  %sum.next = add <2 x i64> %sum, %both
  %rest.next = xor i32 %rest, %now
  br label %test
done:
  ret <2 x i64> %sum
}
"""

# Rounds in which each of `banks` banks serves one lane of a mask; how many lanes wait in all of them, how
# many wavefronts their loads take, and how many elements they ask for.
_TRIES = """
define internal <4 x i64> @wg_tries(
  <32 x i64> %granules, <32 x i64> %elements, i32 %mask, i64 %banks
) noinline #0 {
entry:
  %wrap = sub i64 %banks, 1
  %wrap.one = insertelement <32 x i64> poison, i64 %wrap, i32 0
  %wraps = shufflevector <32 x i64> %wrap.one, <32 x i64> poison, <32 x i32> zeroinitializer
  %bank = and <32 x i64> %granules, %wraps
  br label %test
test:
  %rest = phi i32 [ %mask, %entry ], [ %rest.next, %next ]
  %sum = phi <4 x i64> [ zeroinitializer, %entry ], [ %sum.next, %next ]
  %more = icmp ne i32 %rest, 0
  br i1 %more, label %next, label %done
next:
  %waiting = call i32 @llvm.ctpop.i32(i32 %rest)
  %waiting.wide = zext i32 %waiting to i64
  %passes = call i64 @wg_passes(<32 x i64> %granules, i32 %rest, i64 %banks)
  %one = insertelement <4 x i64> <i64 1, i64 0, i64 0, i64 0>, i64 %waiting.wide, i32 1
  %both = insertelement <4 x i64> %one, i64 %passes, i32 2
  %distinct = call i64 @wg_distinct(<32 x i64> %elements, i32 %rest)
  %all = insertelement <4 x i64> %both, i64 %distinct, i32 3
  %sum.next = add <4 x i64> %sum, %all
  %now = call i32 @wg_first(<32 x i64> %bank, i32 %rest)
  %rest.next = xor i32 %rest, %now
  br label %test
done:
  ret <4 x i64> %sum
}
"""

ATOMIC_SHARED = _FIRST + _ROUNDS + _TRIES


def _bytes(size: int) -> str:
    log = size.bit_length() - 1
    return f"""%element = lshr <32 x i64> %a, splat (i64 {log})
  %elements = call i64 @wg_distinct(<32 x i64> %element, i32 %mask)
  %bytes = shl i64 %elements, {log}"""


def global_rounds_row(rule: str, size: int, lanes: int) -> str:
    """Rounds of groups of so many lanes."""
    body = ["%sum0 = add <2 x i64> zeroinitializer, zeroinitializer"]
    for k, start in enumerate(range(0, 32, lanes)):
        body.append(f"%m{k} = and i32 %mask, {signed(((1 << lanes) - 1) << start)}")
        body.append(f"%r{k} = call <2 x i64> @wg_rounds(<32 x i64> %a, i32 %m{k})")
        body.append(f"%sum{k + 1} = add <2 x i64> %sum{k}, %r{k}")
    total = f"%sum{32 // lanes}"
    lines = "\n  ".join(body)
    return f"""
define internal <4 x i64> @wg_row_{rule}_{size}(<32 x i64> %a, i32 %mask) noinline #0 {{
  {lines}
  %sectors = extractelement <2 x i64> {total}, i32 0
  %lines = extractelement <2 x i64> {total}, i32 1
  {_bytes(size)}
  {row(["1", "%sectors", "%lines", "%bytes"])}
}}
"""


def shared_atomic_row(rule: str, size: int, passes: int) -> str:
    """Each lane of a bank by itself, `passes` times."""
    count = max(1, size // 4)
    lanes = 32 // count
    body = ["%sum0 = add i64 0, 0", "%least0 = add i64 0, 0"]
    for k in range(count):
        body.append(f"%m{k} = and i32 %mask, {signed(((1 << lanes) - 1) << (k * lanes))}")
        given = f"<32 x i64> %granule, <32 x i64> %granule, i32 %m{k}, i64 {lanes}"
        body.append(f"%r{k} = call <4 x i64> @wg_tries({given})")
        body.append(f"%n{k} = extractelement <4 x i64> %r{k}, i32 0")
        body.append(f"%sum{k + 1} = add i64 %sum{k}, %n{k}")
        body.append(f"%some{k} = icmp ne i64 %n{k}, 0")
        body.append(f"%one{k} = zext i1 %some{k} to i64")
        body.append(f"%least{k + 1} = add i64 %least{k}, %one{k}")
    lines = "\n  ".join(body)
    return f"""
define internal <4 x i64> @wg_row_{rule}_{size}(<32 x i64> %a, i32 %mask) noinline #0 {{
  %granule = lshr <32 x i64> %a, splat (i64 {max(size, 4).bit_length() - 1})
  {lines}
  %waves = mul i64 %sum{count}, {passes}
  %floor = mul i64 %least{count}, {passes}
  {_bytes(size)}
  {row(["%floor", "%waves", "%floor", "%bytes"])}
}}
"""


def shared_tries_row(rule: str, size: int) -> str:
    """Rounds, lanes in them, wavefronts of their loads, bytes of each round."""
    log = size.bit_length() - 1
    return f"""
define internal <4 x i64> @wg_row_{rule}_{size}(<32 x i64> %a, i32 %mask) noinline #0 {{
  %granule = lshr <32 x i64> %a, splat (i64 {max(size, 4).bit_length() - 1})
  %element = lshr <32 x i64> %a, splat (i64 {log})
  %sum = call <4 x i64> @wg_tries(
    <32 x i64> %granule, <32 x i64> %element, i32 %mask, i64 {32 * 4 // max(size, 4)})
  %scaled = shl <4 x i64> %sum, <i64 0, i64 0, i64 0, i64 {log}>
  ret <4 x i64> %scaled
}}
"""

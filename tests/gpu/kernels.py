"""Kernels of the GPU tests, in PTX, so that these tests need no compiler. All are for sm_75 and up."""

from __future__ import annotations

from warpglass.source.compiled import Argument, Compiled

_HEAD = ".version {version}\n.target {target}\n.address_size 64\n"

# out[i] = x[i] + y[i] for i < n
ADD = """
.visible .entry add(.param .u64 x, .param .u64 y, .param .u64 out, .param .u32 n)
{
    .reg .pred %p<2>; .reg .b32 %r<6>; .reg .b64 %rd<10>; .reg .f32 %f<4>;
    ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.param.u64 %rd3, [out]; ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 bra DONE;
    mul.wide.u32 %rd4, %r5, 4;
    add.s64 %rd5, %rd1, %rd4; add.s64 %rd6, %rd2, %rd4; add.s64 %rd7, %rd3, %rd4;
    ld.global.f32 %f1, [%rd5]; ld.global.f32 %f2, [%rd6];
    add.f32 %f3, %f1, %f2;
    st.global.f32 [%rd7], %f3;
DONE:
    ret;
}
"""

# *(unsigned *)address = 1, whatever the address
POKE = """
.visible .entry poke(.param .u64 address)
{
    .reg .b64 %rd<2>; .reg .b32 %r<2>;
    ld.param.u64 %rd1, [address]; mov.u32 %r1, 1;
    st.global.u32 [%rd1], %r1;
    ret;
}
"""

# *((char *)p + 2) as an int: misaligned
SLANT = """
.visible .entry slant(.param .u64 p)
{
    .reg .b64 %rd<2>; .reg .b32 %r<2>;
    ld.param.u64 %rd1, [p]; mov.u32 %r1, 1;
    st.global.u32 [%rd1+2], %r1;
    ret;
}
"""

TRAP = ".visible .entry stop(.param .u64 p) { trap; ret; }"

# Never ends, in this life: waits for a word that nobody writes.
SPIN = """
.visible .entry spin(.param .u64 p)
{
    .reg .b64 %rd<2>; .reg .b32 %r<2>; .reg .pred %q;
    ld.param.u64 %rd1, [p];
AGAIN:
    ld.volatile.global.u32 %r1, [%rd1];
    setp.eq.u32 %q, %r1, 0;
    @%q bra AGAIN;
    ret;
}
"""

# out[tid] = what a neighbour 1 word further (modulo n) put into dynamic shared memory: tid
SHARED = """
.extern .shared .align 4 .b8 room[];
.visible .entry rotate(.param .u64 out, .param .u32 n)
{
    .reg .b64 %rd<4>; .reg .b32 %r<12>; .reg .pred %q;
    ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x; mov.u32 %r9, %ntid.x; mov.u32 %r3, room;
    mov.u32 %r4, %r2;
FILL:
    shl.b32 %r5, %r4, 2; add.s32 %r6, %r3, %r5;
    st.shared.u32 [%r6], %r4;
    add.s32 %r4, %r4, %r9;
    setp.lt.u32 %q, %r4, %r1;
    @%q bra FILL;
    bar.sync 0;
    sub.s32 %r7, %r1, 1; sub.s32 %r7, %r7, %r2;
    shl.b32 %r5, %r7, 2; add.s32 %r6, %r3, %r5;
    ld.shared.u32 %r8, [%r6];
    mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r8;
    ret;
}
"""

# out[0] = pair.a + pair.b + (double) scale, for struct { int a; float b; } by value
STRUCT = """
.visible .entry total(.param .u64 out, .param .align 4 .b8 pair[8], .param .f64 scale, .param .u8 flag)
{
    .reg .b64 %rd<2>; .reg .b32 %r<3>; .reg .f32 %f<2>; .reg .f64 %fd<6>; .reg .b16 %h<2>;
    ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [pair]; ld.param.f32 %f1, [pair+4];
    ld.param.f64 %fd1, [scale]; ld.param.u8 %h1, [flag];
    cvt.rn.f64.s32 %fd2, %r1; cvt.f64.f32 %fd3, %f1;
    add.f64 %fd4, %fd2, %fd3; add.f64 %fd4, %fd4, %fd1;
    cvt.rn.f64.u16 %fd5, %h1; add.f64 %fd4, %fd4, %fd5;
    st.global.f64 [%rd1], %fd4;
    ret;
}
"""

# A kernel compiled for at most 64 threads.
BOUNDED = ".visible .entry bounded(.param .u64 p) .maxntid 64, 1, 1 { ret; }"


def compiled(body: str, *names: str, version: str = "7.0", target: str = "sm_75") -> Compiled:
    """A kernel of this file; `names` are those of its arguments if they are to be known."""
    entry = body.split(".entry", 1)[1].split("(", 1)[0].strip()
    arguments = tuple(Argument(name, ("any",)) for name in names) or None
    return Compiled(_HEAD.format(version=version, target=target) + body, entry, entry, "ptx", arguments)

"""What became of memory instructions, loops, calls and guards."""

from __future__ import annotations

import numpy as np
import pytest

from tests.ptx_text import kernel
from warpglass import lab
from warpglass.engine.launch.backend import Launch
from warpglass.errors import CompileError
from warpglass.sass.counts import LineCounts
from warpglass.sass.estimate import counters, execute
from warpglass.sass.translate import Translation, translate
from warpglass.source.compiled import Compiled

from .truth import cases, compiled, count, counted

FLOP = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum"


def translated(source: Compiled, target: str = "sm_90") -> Translation:
    found = translate(source, target)
    assert found is not None
    return found


def test_targets_that_the_assembler_does_not_know_have_no_translation():
    assert translate(compiled("vadd"), "sm_70") is None


@pytest.mark.parametrize("target", ["90", "sm_", "compute_90"])
def test_a_misspelt_target_is_named(target: str):
    with pytest.raises(CompileError, match="expected a form such as 'sm_90'"):
        translate(compiled("vadd"), target)


# ------------------------------------------------------------------------------------ memory
def test_neighbouring_shared_loads_are_merged():
    found = translated(compiled("dot<false>"))
    leaders = [access for access in found.accesses.values() if len(access.members) > 1]
    assert [(access.machine, access.width, access.space) for access in leaders] == [("LDS", 16, "shared")] * 8
    assert all([offset for _, offset in access.members] == [0, 4, 8, 12] for access in leaders)
    members = [line for access in leaders for line, _ in access.members]
    assert len(set(members)) == 32
    assert all(found.accesses[line].leader == leader.line for leader in leaders for line, _ in leader.members)


def test_addresses_that_differ_by_registers_are_not():
    found = translated(compiled("mm_tiled<16>"))
    loads = [a for a in found.accesses.values() if a.space == "shared" and a.access == "load"]
    kept = [access for access in loads if access.leader == access.line]
    assert sorted(access.width for access in kept) == [4] * 16 + [16] * 4
    assert len(loads) == 32
    assert not any(access.removed for access in loads)


def test_local_arrays_that_become_registers_are_removed():
    source = """
.local .align 16 .b8 buffer[16];
ld.param.u64 %rd1, [x]; mov.u64 %rd2, buffer;
ld.global.u32 %r1, [%rd1];
st.local.u32 [%rd2+4], %r1;
ld.local.u32 %r2, [%rd2+4];
st.global.u32 [%rd1+4], %r2;
ret;"""
    found = translated(Compiled(kernel(source, "u64 x"), "k", "k", "ptx")).accesses.values()
    assert [(access.space, access.removed) for access in found] == [
        ("global", False),
        ("local", True),
        ("local", True),
        ("global", False),
    ]


def test_atomic_operations_without_a_result_are_reductions():
    source = """
ld.param.u64 %rd1, [x]; mov.u32 %r9, %tid.x; mul.wide.u32 %rd2, %r9, 4; add.s64 %rd3, %rd1, %rd2;
atom.global.add.u32 %r1, [%rd3], %r9;
atom.global.add.u32 %r2, [%rd3+512], %r9;
st.global.u32 [%rd3+1024], %r2;
ret;"""
    found = translated(Compiled(kernel(source, "u64 x"), "k", "k", "ptx")).accesses.values()
    assert [(access.access, access.machine) for access in found] == [
        ("atomic", "RED"),
        ("atomic", "ATOMG"),
        ("store", "STG"),
    ]


# ------------------------------------------------------------------------------------ counts
DIVERGENT = """
extern "C" __global__ void k(const int *times, const float *x, float *out) {
  int i = threadIdx.x;
  float sum = 0;
  for (int j = 0; j < times[i]; j++) sum += x[j] * x[j + i];
  out[i] = sum;
}"""


def run(source: Compiled, *args: object, threads: int = 64) -> LineCounts:
    """Counts of one block."""
    return count(Launch(source, (1, 1, 1), (threads, 1, 1), args))


def test_copies_of_an_unrolled_loop_add_up_to_its_trips():
    source = lab.compile(DIVERGENT, "k").compile(())
    times = np.random.default_rng(0).integers(0, 40, 64).astype("i4")
    counts = run(source, times, np.ones(200, "f4"), np.zeros(64, "f4"))
    found = counters(translated(source), counts)
    assert found[FLOP.format("ffma")] == times.sum()


def test_trips_tell_how_often_each_copy_ran():
    case = cases("open")["conv1_halo"]
    translation = translated(compiled(case.kernel))
    counts = counted(case)
    loop = next(loop for loop in translation.loops if counts.threads(loop.header) == 2 * 100096)
    given = LineCounts(
        counts.executed, counts.parted, trips={loop.header: {1: (1564, 50048), 3: (1564, 50048)}}
    )
    uneven, even = (
        {i.instruction.offset: i.threads for i in execute(translation, one) if i.instruction.name == "LDS"}
        for one in (given, counts)
    )
    # Four PTX trips at once, then two, then one: three trips are two and one, two are two.
    by_count = sorted({(even[offset], uneven[offset]) for offset in even if even[offset] != uneven[offset]})
    assert by_count == [(0, 100096), (100096, 50048)]


def test_guards_of_short_branches_hold_for_the_threads_that_took_them():
    case = cases("open")["dot_tree"]
    found = execute(translated(compiled(case.kernel)), counted(case))
    guarded = [
        item for item in found if item.instruction.name == "FADD" and item.instruction.guard is not None
    ]
    assert guarded
    assert all(item.threads < item.active for item in guarded)


def test_a_division_is_a_reciprocal_and_five_multiplications():
    source = """
ld.param.u64 %rd1, [x]; mov.u32 %r9, %tid.x; mul.wide.u32 %rd2, %r9, 4; add.s64 %rd3, %rd1, %rd2;
ld.global.f32 %f1, [%rd3]; div.rn.f32 %f2, 0f3F800000, %f1;
st.global.f32 [%rd3], %f2;
ret;"""
    made = Compiled(kernel(source, "u64 x"), "k", "k", "ptx")
    found = counters(translated(made), run(made, np.ones(64, "f4")))
    assert found[FLOP.format("ffma")] in (4 * 64, 5 * 64)
    assert found["smsp__sass_branch_targets.sum"] == 2


CALLS = """
__device__ __noinline__ float twice(float x, int n) { for (int i = 0; i < n; i++) x = x * x + 1; return x; }
extern "C" __global__ void k(float *x, int n) {
  int i = threadIdx.x;
  if (i < 10) x[i] = twice(x[i], n);
  else x[i] = twice(x[i] + 1, 3);
}"""


def test_functions_that_are_called_are_counted():
    source = lab.compile(CALLS, "k").compile(())
    translation = translated(source)
    assert len({block.function for block in translation.graph.blocks}) == 2
    counts = run(source, np.ones(64, "f4"), np.int32(7))
    found = counters(translation, counts)
    assert found[FLOP.format("ffma")] == 10 * 7 + 54 * 3
    assert found[FLOP.format("fadd")] == 54


SPINS = """
extern "C" __global__ void k(float *x) {
  __shared__ float sums[8];
  int i = threadIdx.x;
  if (i < 8) sums[i] = 0;
  __syncthreads();
  atomicAdd(&sums[i & 7], x[i]);
  __syncthreads();
  x[i] = sums[i & 7];
}"""


def test_tries_of_shared_atomic_operations_count():
    source = lab.compile(SPINS, "k").compile(())
    translation = translated(source)
    counts = run(source, np.ones(64, "f4"))
    (line,) = [a.line for a in translation.accesses.values() if a.access in ("atomic", "reduction")]
    once = counters(translation, counts)
    tried = counters(translation, LineCounts(counts.executed, counts.parted, rounds={line: (8, 160)}))
    assert (once[FLOP.format("fadd")], tried[FLOP.format("fadd")]) == (64, 160)
    name = "smsp__sass_branch_targets_threads_divergent.sum"
    assert tried[name] - once[name] == 6

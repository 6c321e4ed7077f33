// Kernels in which threads miss a barrier of their block (bad_*, at the line that says so) or do not (good_*).
// All are launched with 2 blocks of 96 threads, x[4096] of 0, 1, 2, ..., y[4096] of zeros and n = 150.
#define _CG_LIMIT_INCLUDED_DEPENDENCIES  // without libcu++ it compiles 20 times as quickly
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
#define BAD(name) extern "C" __global__ void bad_##name(const float *x, float *y, int n)
#define GOOD(name) extern "C" __global__ void good_##name(const float *x, float *y, int n)
#define INDEX const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t

// ------------------------------------------------------------------------------- the last thing of a kernel
BAD(odd_lanes) {
    INDEX;
    y[i] = x[i];
    if (t % 2 == 0) {
        y[i] += 1;
        __syncthreads();  // error
    }
}
GOOD(even_work) {
    INDEX;
    y[i] = x[i];
    if (t % 2 == 0) y[i] += 1;
    __syncthreads();
}
BAD(half_warp) {
    INDEX;
    if (t < 16) {
        __syncthreads();  // error
    }
    y[i] = t;
}
GOOD(all_of_block) {
    INDEX;
    if (blockIdx.x == 1) {
        y[i] = t;
        __syncthreads();
    }
}
BAD(bounds_around_all) {
    __shared__ float s[96];
    INDEX;
    if (i < n)
    {
        s[t] = x[i];
        __syncthreads();  // error
        y[i] = s[t ^ 1];
    }
}
GOOD(bounds_return) {
    __shared__ float s[96];
    INDEX;
    if (i >= n)
        return;
    s[t] = x[i];
    __syncthreads();
    y[i] = s[t & ~1];
}
BAD(one_line) {
    INDEX;
    if (i < n) { y[i] = 1; __syncthreads(); }  // error
}
GOOD(one_line_return) {
    INDEX;
    if (i >= n) return; y[i] = 1; __syncthreads();
}
BAD(else_branch) {
    INDEX;
    if (t % 3 == 0) {
        y[i] = 1;
    } else {
        y[i] = 2;
        __syncthreads();  // error
    }
}
GOOD(return_in_else) {
    INDEX;
    if (i < n) {
        y[i] = 2;
        __syncthreads();
    } else {
        return;
    }
}
BAD(two_conditions) {
    INDEX;
    if (i < n && t != 7) {
        y[i] = 1;
        __syncthreads();  // error
    }
}
GOOD(two_returns) {
    INDEX;
    if (i >= n || t == 7) return;
    y[i] = 1;
    __syncthreads();
}
BAD(behind_a_return) {
    INDEX;
    if (i >= n) return;
    if (t < 40) {
        y[i] = 1;
        __syncthreads();  // error
    }
}
GOOD(return_then_block_condition) {
    INDEX;
    if (i >= n) return;
    if (blockIdx.x == 1) {
        y[i] = 1;
        __syncthreads();
        y[i] = 2;
    }
}
BAD(before_a_return) {
    INDEX;
    if (t < 8) {
        y[i] = 1;
        __syncthreads();  // error
    }
    if (t >= 8) return;
    y[i] = 2;
}
GOOD(return_with_work) {
    INDEX;
    if (i >= n) {
        y[i] = -1;
        return;
    }
    y[i] = x[i];
    __syncthreads();
    y[i] += 1;
}
BAD(arm_that_returns) {
    INDEX;
    if (t < 16) {
        y[i] = 1;
        __syncthreads();  // error
        y[i] = 2;
        return;
    }
    y[i] = 3;
}
GOOD(same_tail) {
    INDEX;
    float v = 0;
    if (i >= n) {
        y[i] = v;
        return;
    }
    __shared__ float s[96];
    s[t] = x[i];
    __syncthreads();
    v = s[t / 2];
    y[i] = v;
}
BAD(rejoins) {
    INDEX;
    float v = x[i];
    if (t & 4) {
        v *= 2;
        __syncthreads();  // error
        v += 1;
    }
    y[i] = v;
}
GOOD(joins_before) {
    INDEX;
    float v = x[i];
    if (t & 4) v *= 2;
    __syncthreads();
    y[i] = v;
}
// ------------------------------------------------------------------------------------------------- loops
BAD(unrolled) {
    INDEX;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        if (t % 2 == 0) {
            y[i + 200 * k] = k;
            __syncthreads();  // error
        }
    }
}
GOOD(unrolled_all) {
    INDEX;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        if (t % 2 == 0) y[i + 200 * k] = k;
        __syncthreads();
    }
}
BAD(branch_in_loop) {
    INDEX;
    for (int k = 0; k < n / 50; ++k) {
        if (t < 20) {
            y[i + 200 * k] = k;
            __syncthreads();  // error
        }
    }
}
GOOD(loop_of_block) {
    INDEX;
    for (int k = 0; k < n / 50; ++k) {
        y[i + 200 * k] = k;
        __syncthreads();
    }
}
BAD(trip_counts) {
    INDEX;
    for (int k = t; k < n; k += 32) {
        y[i] += k;
        __syncthreads();  // error
    }
}
GOOD(return_in_loop) {
    INDEX;
    for (int k = 0; k < 4; ++k) {
        if (i + 20 * k >= n) return;
        y[i] += k;
        __syncthreads();
    }
}
BAD(leaves_by_break) {
    INDEX;
    for (int k = 0; k < 4; ++k) {
        if (x[i] > 100 * k + 60) break;
        y[i] += k;
        __syncthreads();  // error
    }
}
GOOD(break_of_all) {
    __shared__ int stop;
    INDEX;
    for (int k = 0; k < 8; ++k) {
        if (t == 0) stop = k == 3;
        __syncthreads();
        if (stop) break;
        y[i] += k;
        __syncthreads();
    }
}
BAD(continues) {
    INDEX;
    for (int k = 0; k < 4; ++k) {
        if ((t + k) % 4 == 0) continue;
        y[i] += k;
        __syncthreads();  // error
    }
}
GOOD(continues_behind) {
    INDEX;
    for (int k = 0; k < n / 30; ++k) {
        __syncthreads();
        if ((t + k) % 4 == 0) continue;
        y[i] += k * x[i];
    }
}
BAD(turns_of_lanes) {
    INDEX;
#pragma unroll 1
    for (int k = 0; k < 2; ++k) {
        if (t % 2 == k) {
            y[i] = k;
            __syncthreads();  // error
        }
    }
}
GOOD(last_step) {
    __shared__ float s[128];
    INDEX;
    s[t] = x[i];
    for (int half = 64; half > 0; half /= 2) {
        __syncthreads();
        if (t < half && t + half < 96) s[t] += s[t + half];
    }
    if (t == 0) y[blockIdx.x] = s[0];
}
// ------------------------------------------------------------------------------------------------- functions
__device__ __noinline__ void shared_step(float *y, int i) {
    y[i] += 1;
    __syncthreads();  // error of call_under_condition
}
__device__ void inlined_step(float *y, int i) {
    y[i] += 1;
    __syncthreads();  // error of inlined_under_condition
}
__device__ bool outside(int i, int n) {
    if (i < 3) return true;
    return i >= n;
}
__device__ void body(const float *x, float *y, int i, int n) {
    if (i >= n) return;
    y[i] = x[i];
    __syncthreads();
}
__device__ void part(const float *x, float *y, int i, int n) {
    if (i >= n) return;
    y[i] = x[i];
    __syncthreads();  // error of returns_to_caller
}
BAD(call_under_condition) {
    INDEX;
    if (t & 1) shared_step(y, i);
}
GOOD(call_of_all) {
    INDEX;
    if (i >= n) return;
    shared_step(y, i);
}
BAD(inlined_under_condition) {
    INDEX;
    if (t & 1) inlined_step(y, i);
}
GOOD(inlined_of_all) {
    INDEX;
    inlined_step(y, i);
    if (t & 1) y[i] += 1;
}
BAD(predicate) {
    INDEX;
    if (!outside(i, n)) {
        y[i] = 1;
        __syncthreads();  // error
    }
}
GOOD(predicate_return) {
    INDEX;
    if (outside(i, n)) return;
    y[i] = 1;
    __syncthreads();
}
BAD(returns_to_caller) {
    INDEX;
    part(x, y, i, n);
    y[i + 1000] = 1;
}
GOOD(returns_to_end) {
    INDEX;
    body(x, y, i, n);
}
BAD(lambda) {
    INDEX;
    auto step = [&](int k) {
        y[i] += k;
        __syncthreads();  // error
    };
    if (t > 40) step(2);
}
GOOD(lambda_of_all) {
    INDEX;
    auto step = [&](int k) {
        y[i] += k;
        __syncthreads();
    };
    if (t > 40) y[i] = 4;
    step(2);
}
// ------------------------------------------------------------------------------------------------- other barriers
BAD(counting) {
    INDEX;
    if (i < n) {
        y[i] = __syncthreads_count(x[i] > 3);  // error
    }
}
GOOD(counting_behind_return) {
    INDEX;
    if (i >= n) return;
    y[i] = __syncthreads_count(x[i] > 3);
}
BAD(all_of) {
    INDEX;
    if (t % 2) y[i] = __syncthreads_and(t);  // error
}
GOOD(any_of) {
    INDEX;
    int any = __syncthreads_or(t == n);
    if (t % 2) y[i] = any;
}
BAD(group) {
    INDEX;
    cg::thread_block block = cg::this_thread_block();
    if (t % 2) {
        y[i] = 1;
        block.sync();  // error
    }
}
GOOD(group_of_all) {
    INDEX;
    cg::thread_block block = cg::this_thread_block();
    if (i >= n) return;
    y[i] = 1;
    block.sync();
}
BAD(named) {
    INDEX;
    if (t < 64 && t % 2) {
        y[i] = 1;
        asm volatile("bar.sync 1, 64;" ::: "memory");  // error
    }
}
GOOD(named_of_warps) {
    INDEX;
    if (t < 64) {
        y[i] = 1;
        asm volatile("bar.sync 1, 64;" ::: "memory");
    }
}
GOOD(producer_and_consumer) {
    __shared__ float s[32];
    INDEX;
    if (t < 32) {
        for (int k = 0; k < 3; ++k) {
            asm volatile("bar.sync 2, 64;" ::: "memory");
            s[t] = x[32 * k + t];
            asm volatile("bar.arrive 1, 64;" ::: "memory");
        }
        asm volatile("bar.sync 2, 64;" ::: "memory");
    } else if (t < 64) {
        asm volatile("bar.arrive 2, 64;" ::: "memory");
        for (int k = 0; k < 3; ++k) {
            asm volatile("bar.sync 1, 64;" ::: "memory");
            y[i] += s[t - 32];
            asm volatile("bar.arrive 2, 64;" ::: "memory");
        }
    }
}
// ------------------------------------------------------------------------------------------------- whole warps
BAD(first_warp) {
    INDEX;
    if (t < 32) {
        y[i] = 1;
        __syncthreads();  // warning
    }
}
GOOD(first_warp_goes_on) {
    INDEX;
    __syncthreads();
    if (t >= 32) return;
    y[i] = 1;
    __syncthreads();
}
BAD(warps_of_loop) {
    INDEX;
    for (int k = t / 32; k < 3; ++k) {
        y[i] += k;
        __syncthreads();  // warning
    }
}
BAD(turns_of_warps) {
    INDEX;
#pragma unroll 1
    for (int k = 0; k < 3; ++k) {
        if (t / 32 == k) {
            y[i] = k;
            __syncthreads();  // error
        }
    }
}
BAD(turns_of_warps_unrolled) {
    INDEX;
#pragma unroll
    for (int k = 0; k < 3; ++k) {
        if (t / 32 == k) {
            y[i] = k;
            __syncthreads();  // error
        }
    }
}
BAD(counting_warps) {
    INDEX;
    if (t >= 64) {
        y[i] = __syncthreads_count(t > 70);  // warning
    }
}
GOOD(counting_warps_return) {
    INDEX;
    if (t < 64) return;
    y[i] = __syncthreads_count(t > 70);
}
// ------------------------------------------------------------------------------------------------- many ways
BAD(cases) {
    INDEX;
    switch (t % 6) {
    case 0: y[i] = 3; break;
    case 1: y[i] = x[i] + 1; break;
    case 2: y[i] = x[i] * 2; break;
    case 3:
        y[i] = 1;
        __syncthreads();  // error
        break;
    case 4: y[i] = x[i] / 5; break;
    default: y[i] = 9;
    }
}
GOOD(cases_behind) {
    INDEX;
    switch (t % 6) {
    case 0: y[i] = 3; break;
    case 1: y[i] = x[i] + 1; break;
    case 2: y[i] = x[i] * 2; break;
    default: y[i] = 9;
    }
    __syncthreads();
}
BAD(jumps_over) {
    INDEX;
    if (i >= n) goto end;
    y[i] = 1;
    __syncthreads();  // error
end:
    ;
}
GOOD(ends_by_instruction) {
    INDEX;
    if (i >= n) asm volatile("exit;");
    y[i] = 1;
    __syncthreads();
}
#define ONLY_IF(condition) \
    if (!(condition)) return
#define EACH(k, count) for (int k = t; k < count; k += 64)
GOOD(macro_that_returns) {
    INDEX;
    ONLY_IF(i < n);
    y[i] = 1;
    __syncthreads();
}
BAD(loop_of_macro) {
    INDEX;
    EACH(k, 100) {
        y[i] = k;
        __syncthreads();  // error
    }
}
// ------------------------------------------------------------------------------- lanes that come one after the other
__device__ int tickets[64];
GOOD(spins_between_barriers) {
    INDEX;
    for (int k = 0; k < 3; ++k) {
        __syncthreads();
        int turn = 0;
        while (atomicAdd(&tickets[blockIdx.x], 1) % 32 > t % 7 + 20) ++turn;
        y[i] += turn >= 0;
    }
}
GOOD(waits_for_volatile) {
    __shared__ volatile int flags[96];
    INDEX;
    flags[t] = 0;
    for (int k = 0; k < 3; ++k) {
        __syncthreads();
        int looked = 0;
        while (flags[t] < t % 5 + k) {
            flags[t] = flags[t] + 1;
            ++looked;
        }
        y[i] += looked;
    }
}
BAD(spins_and_skips) {
    INDEX;
    for (int k = 0; k < 3; ++k) {
        while (atomicAdd(&tickets[blockIdx.x], 1) % 32 > t % 7 + 20) {}
        if ((t + k) % 3) {
            y[i] = 1;
            __syncthreads();  // error
        }
    }
}

// ------------------------------------------------------------------------------- all on one line
#define I (blockIdx.x * blockDim.x + threadIdx.x)
BAD(line) { if (threadIdx.x % 2) { y[I] = x[n]; __syncthreads(); } }  // error
GOOD(line) { if (threadIdx.x % 2) return; y[I] = x[n]; __syncthreads(); y[I] += 1; }
BAD(warps_on_line) { if (threadIdx.x < 32) { y[I] = x[n]; __syncthreads(); } }  // warning
GOOD(block_on_line) { if (gridDim.x == 2) { y[I] = x[n]; __syncthreads(); } y[I] += 1; }

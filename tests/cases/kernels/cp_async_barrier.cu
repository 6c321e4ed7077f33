// A thread waits for its own copies only; those of other warps need a barrier as well.
// launch: grid=1 block=64 args=f4[256]:rand,out:f4[64]
extern "C" __global__ void cp_async_barrier(const float4 *x, float *y) {
    __shared__ float4 s[64];
    unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(&s[threadIdx.x]));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(x + threadIdx.x) : "memory");  // OTHER
    asm volatile("cp.async.wait_all;" ::: "memory");
    if (!BUGGY) __syncthreads();
    y[threadIdx.x] = s[63 - threadIdx.x].w;  // BUG: shared-race
}

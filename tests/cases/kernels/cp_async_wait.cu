// Asynchronous copies are awaited one group too late, so the tile may not be there when it is read.
// launch: grid=1 block=64 args=f4[512]:rand,out:f4[64]
__device__ void copy(float *to, const float *from) {
    unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(to));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at), "l"(from) : "memory");  // OTHER
    asm volatile("cp.async.commit_group;" ::: "memory");
}
extern "C" __global__ void cp_async_wait(const float *x, float *y) {
    __shared__ float stage[3][64];
    int t = threadIdx.x;
    float sum = 0;
    copy(&stage[0][t], x + t);
    copy(&stage[1][t], x + 64 + t);
    for (int i = 0; i < 6; i++) {
        copy(&stage[(i + 2) % 3][t], x + 64 * (i + 2) + t);
        if (BUGGY) asm volatile("cp.async.wait_group 3;" ::: "memory");
        else asm volatile("cp.async.wait_group 2;" ::: "memory");
        __syncthreads();
        sum += stage[i % 3][63 - t];  // BUG: shared-race
        __syncthreads();
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
    y[t] = sum;
}

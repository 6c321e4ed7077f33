// Elimination in one kernel: a column's factor is read while its owner sets it to zero.
// launch: grid=1 block=8,8 args=f4[8,8]:rand
extern "C" __global__ void pivot_row(float *a) {
    int c = threadIdx.x, r = threadIdx.y;
    for (int k = 0; k < 7; k++) {
        float factor = r > k ? a[8 * r + k] / (a[8 * k + k] + 9) : 0;  // OTHER
        if (!BUGGY) __syncthreads();
        if (r > k && c >= k) a[8 * r + c] -= factor * a[8 * k + c];  // BUG: warp-race
        __syncthreads();
    }
}

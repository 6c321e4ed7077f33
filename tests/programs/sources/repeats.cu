// Launches of a kernel with loops that come again: brief ones, then some that take longer, then one that faults.
#include <cstdio>

__global__ void rounds(float *out, unsigned long long *launches, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum = sum * 0.5f + 1;
    out[n < 0 && blockIdx.x == 40 ? i + 4096 : i] = sum;
    if (threadIdx.x == 0) launches[blockIdx.x] += 1;
}

int main() {
    const int blocks = 64, threads = 64;
    float *out;
    unsigned long long *launches, counted[blocks];
    cudaMalloc(&out, blocks * threads * sizeof *out);
    cudaMalloc(&launches, sizeof counted);
    cudaMemset(launches, 0, sizeof counted);
    unsigned long long all = 0;
    for (int turn = 0; turn < 4; ++turn) {
        for (int k = 0; k < 500; ++k, ++all) rounds<<<blocks, threads>>>(out, launches, k % 3);
        rounds<<<blocks, threads>>>(out, launches, 2000 << turn);
        ++all;
        float last[blocks * threads];
        cudaMemcpy(last, out, sizeof last, cudaMemcpyDeviceToHost);
        int wrong = 0;
        for (float one : last) wrong += one != 2;
        cudaMemcpy(counted, launches, sizeof counted, cudaMemcpyDeviceToHost);
        for (unsigned long long one : counted) wrong += one != all;
        printf("%d wrong\n", wrong);
    }
    for (int k = 0; k < 100; ++k) rounds<<<blocks, threads>>>(out, launches, 1);
    rounds<<<blocks, threads>>>(out, launches, -1);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}

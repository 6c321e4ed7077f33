// Heat in a rod: steps of a stencil in shared memory, and what becomes of the heat.
#include <cstdio>
#include <vector>

#define CHECK(call) \
    if (cudaError_t error = (call)) return printf("%s: %s\n", #call, cudaGetErrorString(error)), 1

constexpr int BLOCK = 128;

__global__ void step(const float *now, float *next, int n, float k) {
    __shared__ float tile[BLOCK + 2];
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    const int own = threadIdx.x + 1;
    if (i < n) tile[own] = now[i];
    if (threadIdx.x == 0) tile[0] = i > 0 ? now[i - 1] : now[i];
    if (threadIdx.x == BLOCK - 1 || i == n - 1) tile[own + 1] = i < n - 1 ? now[i + 1] : now[n - 1];
#ifndef FORGET
    __syncthreads();
#endif
    if (i < n) next[i] = tile[own] + k * (tile[own - 1] - 2 * tile[own] + tile[own + 1]);
}

int main(int argc, char **argv) {
    const int n = 1000, steps = argc > 1 ? atoi(argv[1]) : 10;
    std::vector<float> rod(n);
    rod[n / 2] = 1000;
    float *now, *next;
    CHECK(cudaMalloc(&now, n * sizeof(float)));
    CHECK(cudaMalloc(&next, n * sizeof(float)));
    CHECK(cudaMemcpy(now, rod.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    for (int i = 0; i < steps; i++) {
        step<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(now, next, n, 0.25f);
        std::swap(now, next);
    }
    CHECK(cudaMemcpy(rod.data(), now, n * sizeof(float), cudaMemcpyDeviceToHost));
    double heat = 0;
    for (float one : rod) heat += one;
    printf("after %d steps: heat %.3f, %.3f in the middle\n", steps, heat, rod[n / 2]);
    CHECK(cudaFree(now));
    CHECK(cudaFree(next));
}

// Several threads of the host at once: kernels that nobody has run yet, streams, copies, errors of each thread.
#include <thread>
#include <vector>

#include "check.h"

template <int N> __global__ void add(int *data, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < N; ++k)
        if (i < count) data[i] += k;
}

const int COUNT = 10000;

template <int N> void work() {
    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    std::vector<int> values(COUNT, N);
    int *data;
    OK(cudaMalloc(&data, COUNT * sizeof(int)));
    OK(cudaMemcpyAsync(data, values.data(), COUNT * sizeof(int), cudaMemcpyHostToDevice, stream));
    for (int k = 0; k < 20; ++k) add<N><<<(COUNT + 127) / 128, 128, 0, stream>>>(data, COUNT);
    add<N><<<1, 4096, 0, stream>>>(data, COUNT);
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
    CHECK(cudaGetLastError() == cudaSuccess);
    OK(cudaMemcpyAsync(values.data(), data, COUNT * sizeof(int), cudaMemcpyDeviceToHost, stream));
    OK(cudaStreamSynchronize(stream));
    for (int one : values) CHECK(one == N + 20 * N * (N - 1) / 2);
    OK(cudaFree(data));
    OK(cudaStreamDestroy(stream));
}

int main() {
    std::vector<std::thread> threads;
    for (int round = 0; round < 2; ++round) {
        threads.emplace_back(work<1>);
        threads.emplace_back(work<2>);
        threads.emplace_back(work<3>);
        threads.emplace_back(work<4>);
        threads.emplace_back(work<5>);
        threads.emplace_back(work<6>);
    }
    for (std::thread &one : threads) one.join();
    return 0;
}

// Kernels by host function, variables of all kinds, printf, errors of a launch.
#include <vector>

#include "check.h"

__constant__ float scale;
__device__ int counter;
__device__ __managed__ int total = 3;

__global__ void saxpy(int n, float a, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = scale * (a * x[i] + y[i]);
    if (i == 0) {
        atomicAdd(&counter, 5);
        total += 4;
        printf("of %d\n", n);
    }
}

template <typename T> __global__ void fill(T *to, T value) { to[threadIdx.x] = value; }

int main(int count, char **words) {
    CHECK(count == 3 && words[1][0] == 'a' && words[3] == nullptr);
    const int n = 1000;
    std::vector<float> x(n, 2), y(n, 1);
    float *dx, *dy, three = 3;
    OK(cudaMalloc(&dx, n * sizeof(float)));
    OK(cudaMalloc(&dy, n * sizeof(float)));
    OK(cudaMemcpy(dx, x.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    OK(cudaMemcpy(dy, y.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    OK(cudaMemcpyToSymbol(scale, &three, sizeof three));
    total += 10;
    saxpy<<<(n + 255) / 256, 256>>>(n, 10.0f, dx, dy);
    OK(cudaGetLastError());
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpy(y.data(), dy, n * sizeof(float), cudaMemcpyDeviceToHost));
    for (float one : y) CHECK(one == 63);
    int found = 0;
    OK(cudaMemcpyFromSymbol(&found, counter, sizeof found));
    CHECK(found == 5 && total == 17);
    int *address = nullptr;
    size_t size = 0;
    OK(cudaGetSymbolAddress((void **)&address, total));
    OK(cudaGetSymbolSize(&size, total));
    CHECK(size == 4 && *address == 17);
    cudaPointerAttributes attributes;
    OK(cudaPointerGetAttributes(&attributes, address));
    CHECK(attributes.type == cudaMemoryTypeManaged);

    double *doubles;
    OK(cudaMallocManaged(&doubles, 32 * sizeof(double)));
    fill<<<1, 32>>>(doubles, 2.5);
    OK(cudaDeviceSynchronize());
    CHECK(doubles[0] == 2.5 && doubles[31] == 2.5);
    OK(cudaFree(doubles));

    saxpy<<<1, 2000>>>(n, 1.0f, dx, dy);
    CHECK(cudaPeekAtLastError() == cudaErrorInvalidValue);
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(cudaMemcpyToSymbol(scale, &three, 8) == cudaErrorInvalidValue);
    cudaGetLastError();

    OK(cudaDeviceReset()); // variables are as they began, and kernels run as before
    OK(cudaMalloc(&dy, 128));
    fill<<<1, 32>>>(dy, 4.0f);
    saxpy<<<1, 32>>>(32, 2.0f, dy, dy);
    OK(cudaMemcpy(y.data(), dy, 128, cudaMemcpyDeviceToHost));
    CHECK(y[31] == 0);
    OK(cudaMemcpyToSymbol(scale, &three, sizeof three));
    fill<<<1, 32>>>(dy, 4.0f);
    saxpy<<<1, 32>>>(32, 2.0f, dy, dy);
    OK(cudaMemcpy(y.data(), dy, 128, cudaMemcpyDeviceToHost));
    CHECK(y[31] == 36);
    OK(cudaMemcpyFromSymbol(&found, counter, sizeof found));
    CHECK(found == 10);

    saxpy<<<1, 32>>>(n, 1.0f, (float *)nullptr, dy);
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
    CHECK(cudaFree(dy) == cudaErrorIllegalAddress);
    return 7;
}

// A program whose kernel calls a function of another file (compile with -rdc=true).
#include <cstdio>

extern __device__ int twice(int x);

__global__ void kernel(int *x) { *x = twice(*x); }

int main() {
    int x = 21, *device;
    cudaMalloc(&device, sizeof x);
    cudaMemcpy(device, &x, sizeof x, cudaMemcpyHostToDevice);
    kernel<<<1, 1>>>(device);
    cudaMemcpy(&x, device, sizeof x, cudaMemcpyDeviceToHost);
    printf("%d\n", x);
}

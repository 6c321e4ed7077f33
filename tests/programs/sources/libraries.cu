// A program that calls cuBLAS and NVRTC, this without its header.
#include <cstdio>
#include <cublas_v2.h>

extern "C" int nvrtcVersion(int *major, int *minor);

int main() {
    float x[4] = {1, 2, 3, 4}, result = 0, *device;
    cublasHandle_t handle;
    int major = 0, minor;
    printf("nvrtc %d", nvrtcVersion(&major, &minor));
    printf(" %s\n", major ? "answers" : "is silent");
    cudaMalloc(&device, sizeof x);
    cudaMemcpy(device, x, sizeof x, cudaMemcpyHostToDevice);
    int status = cublasCreate(&handle);
    status |= cublasSdot(handle, 4, device, 1, device, 1, &result);
    status |= cublasDestroy(handle);
    printf("cublas %d %g\n", status, result);
}

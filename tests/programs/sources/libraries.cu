// A program that calls cuBLAS and NVRTC, without their headers.
#include <cstdio>

extern "C" {
int cublasCreate_v2(void **handle);
int cublasDestroy_v2(void *handle);
int cublasSdot_v2(void *handle, int n, const float *x, int step_x, const float *y, int step_y, float *result);
int nvrtcVersion(int *major, int *minor);
}

int main() {
    float x[4] = {1, 2, 3, 4}, result = 0, *device;
    void *handle;
    int major = 0, minor;
    printf("nvrtc %d", nvrtcVersion(&major, &minor));
    printf(" %s\n", major ? "answers" : "is silent");
    cudaMalloc(&device, sizeof x);
    cudaMemcpy(device, x, sizeof x, cudaMemcpyHostToDevice);
    int status = cublasCreate_v2(&handle);
    status |= cublasSdot_v2(handle, 4, device, 1, device, 1, &result);
    status |= cublasDestroy_v2(handle);
    printf("cublas %d %g\n", status, result);
}

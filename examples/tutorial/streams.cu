// Lesson 11: what waits for what. Copies and kernels in two streams, events between them, and errors that show
// at the launch or only later.
#include <cstdio>
#include <vector>

__global__ void scale(float *x, int n, float factor)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= factor;
}

__global__ void reach_beyond(float *x, int n)
{
    x[(size_t)1 << 40] = n;
}

const char *said(cudaError_t error)
{
    return error == cudaSuccess ? "fine" : "an error";
}

int main()
{
    const int n = 1 << 16, half = n / 2;
    const size_t bytes = half * sizeof(float);
    std::vector<float> host(n, 1.0f);
    float *x;
    cudaMalloc(&x, n * sizeof(float));  // returns when the memory is there

    cudaStream_t streams[2];
    cudaEvent_t done[2];
    for (int k = 0; k < 2; ++k) {
        cudaStreamCreate(&streams[k]);
        cudaEventCreate(&done[k]);
        float *part = x + k * half;
        cudaMemcpyAsync(part, &host[k * half], bytes, cudaMemcpyHostToDevice, streams[k]);
        scale<<<half / 256, 256, 0, streams[k]>>>(part, half, k + 2.0f);
        cudaMemcpyAsync(&host[k * half], part, bytes, cudaMemcpyDeviceToHost, streams[k]);
        cudaEventRecord(done[k], streams[k]);
    }
    for (int k = 0; k < 2; ++k) cudaEventSynchronize(done[k]);  // only now the host may look
    std::printf("after both streams:   %g and %g\n", host[0], host[n - 1]);

    scale<<<n, 2048>>>(x, n, 1.0f);  // no GPU has blocks of 2048 threads: the launch itself says so
    std::printf("2048 threads a block: %s\n", said(cudaGetLastError()));
    std::printf("the next wait:        %s\n", said(cudaDeviceSynchronize()));

    reach_beyond<<<1, 1>>>(x, n);  // a GPU accepts it: nobody has run it yet
    std::printf("an illegal address:   %s\n", said(cudaDeviceSynchronize()));
    std::printf("from then on:         %s\n", said(cudaMalloc(&x, 4)));
    return 0;
}

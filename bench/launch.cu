// What launches and copies cost in a program; beside copies and fills, what the C library takes for as many bytes.
//
//     warpglass run bench/launch.cu
//
// The low twentieth of the times, and the median.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include <algorithm>
#include <ctime>
static double now() { timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1e6 + t.tv_nsec * 1e-3; }
__global__ void add(float *out, const float *x, const float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = x[i] + y[i];
}
__global__ void loop(float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0; for (int k = 0; k < n; ++k) s = s * 1.0001f + i; out[i] = s;
}
template <class F> void measure(const char *name, F f, int repeat = 2000, double bytes = 0) {
    for (int k = 0; k < 30; ++k) f();
    std::vector<double> t;
    for (int k = 0; k < repeat; ++k) { double b = now(); f(); t.push_back(now() - b); }
    std::sort(t.begin(), t.end());
    double least = t[repeat / 20], middle = t[repeat / 2];
    if (bytes) printf("%-34s %10.2f %10.2f us  %6.2f GB/s\n", name, least, middle, bytes / least * 1e-3);
    else printf("%-34s %10.2f %10.2f us\n", name, least, middle);
}
int main() {
    float *x, *y, *out;
    const size_t big = 64 << 20;
    cudaMalloc(&x, big); cudaMalloc(&y, big); cudaMalloc(&out, big);
    cudaMemset(x, 0, big); cudaMemset(y, 0, big); cudaMemset(out, 0, big);
    cudaStream_t s; cudaStreamCreate(&s);
    measure("add<<<1,64>>>", [&] { add<<<1, 64>>>(out, x, y, 64); });
    measure("add<<<1,64>>> + sync", [&] { add<<<1, 64>>>(out, x, y, 64); cudaDeviceSynchronize(); });
    measure("add<<<16,256>>>", [&] { add<<<16, 256>>>(out, x, y, 4096); });
    measure("add<<<1,64,0,s>>>", [&] { add<<<1, 64, 0, s>>>(out, x, y, 64); });
    int c = 0;
    measure("add, pointers swapped", [&] { ++c & 1 ? add<<<1, 64>>>(out, x, y, 64) : add<<<1, 64>>>(x, out, y, 64); });
    measure("loop<<<1,64>>> n=4", [&] { loop<<<1, 64>>>(out, 4); });
    measure("loop<<<1,64>>> n varies", [&] { loop<<<1, 64>>>(out, ++c & 7); });
    measure("loop<<<16,256>>> n=4", [&] { loop<<<16, 256>>>(out, 4); });
    measure("cudaDeviceSynchronize", [&] { cudaDeviceSynchronize(); });
    measure("cudaStreamSynchronize", [&] { cudaStreamSynchronize(s); });
    cudaEvent_t e; cudaEventCreate(&e);
    measure("cudaEventRecord", [&] { cudaEventRecord(e); });
    measure("cudaGetLastError", [&] { cudaGetLastError(); });
    char *h = (char *)malloc(big), *g = (char *)malloc(big); memset(h, 1, big); memset(g, 1, big);
    char *pinned; cudaMallocHost(&pinned, big); memset(pinned, 1, big);
    for (size_t size : {(size_t)64, (size_t)4096, (size_t)65536, (size_t)1 << 20, big}) {
        int repeat = size > (1 << 22) ? 15 : size > 65536 ? 200 : 1000;
        char name[64];
        auto label = [&](const char *what) { snprintf(name, sizeof name, "%s %zu", what, size); return name; };
        measure(label("memcpy"), [&] { memcpy(g, h, size); }, repeat, size);
        measure(label("cudaMemcpy H2D"), [&] { cudaMemcpy(x, h, size, cudaMemcpyHostToDevice); }, repeat, size);
        measure(label("cudaMemcpy D2H"), [&] { cudaMemcpy(h, x, size, cudaMemcpyDeviceToHost); }, repeat, size);
        measure(label("cudaMemcpy D2D"), [&] { cudaMemcpy(y, x, size, cudaMemcpyDeviceToDevice); }, repeat, size);
        measure(label("cudaMemcpyAsync H2D pinned"), [&] { cudaMemcpyAsync(x, pinned, size, cudaMemcpyHostToDevice, s); }, repeat, size);
        measure(label("memset"), [&] { memset(g, 0, size); }, repeat, size);
        measure(label("cudaMemset"), [&] { cudaMemset(x, 0, size); }, repeat, size);
    }
    double b = now();
    for (int k = 0; k < 200; ++k) { void *p; cudaMalloc(&p, 1 << 20); cudaFree(p); }
    printf("cudaMalloc and cudaFree, 1 MB      %10.2f us\n", (now() - b) / 200);
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}

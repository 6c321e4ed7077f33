// How long kernels of few blocks take in streams of their own, beside what they take in one stream.
//
//     warpglass run bench/streams.cu
//
// Medians; with as many free cores as streams the share would be one in so many.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <vector>
static double now() { timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1e3 + t.tv_nsec * 1e-6; }
__global__ void work(float *out, int rounds) {
    float s = threadIdx.x;
    for (int k = 0; k < rounds; ++k) s = s * 1.0001f + 1;
    out[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
template <class F> double measure(F f) {
    std::vector<double> t;
    for (int k = 0; k < 15; ++k) { double b = now(); f(); t.push_back(now() - b); }
    std::sort(t.begin(), t.end());
    return t[t.size() / 2];
}
int main() {
    float *out;
    cudaMalloc(&out, 1 << 20);
    const int most = 8;
    cudaStream_t s[most];
    for (auto &one : s) cudaStreamCreate(&one);
    printf("streams  rounds   one stream  own streams  share\n");
    for (int streams : {2, 4, most})
        for (int rounds : {20000, 100000, 1000000, 10000000}) {
            auto run = [&](bool apart) {
                return measure([&] {
                    for (int k = 0; k < streams; ++k)
                        work<<<1, 32, 0, s[apart ? k : 0]>>>(out + 1024 * k, rounds);
                    cudaDeviceSynchronize();
                });
            };
            double one = run(false), own = run(true);
            printf("%7d %8d %9.3f ms %9.3f ms  %.2f\n", streams, rounds, one, own, own / one);
        }
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}

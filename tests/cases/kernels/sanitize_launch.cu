// Launches one kernel once, for sanitize.py. Words: CUBIN KERNEL ARGUMENTS gx gy gz bx by bz SHARED COOPERATIVE.
// ARGUMENTS is a file of records: 8 letters, 8 bytes of length, so many bytes. "scalar" is passed as it is; an
// array lies in memory of its own, "input" filled with the bytes, "output" left as it comes.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

static void must(cudaError_t result, const char *what) {
    if (result == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorName(result));
    std::exit(2);
}

int main(int count, char **words) {
    if (count != 12) return 3;
    cudaLibrary_t library;
    cudaKernel_t kernel;
    must(cudaLibraryLoadFromFile(&library, words[1], nullptr, nullptr, 0, nullptr, nullptr, 0), "load");
    must(cudaLibraryGetKernel(&kernel, library, words[2]), "kernel");

    std::FILE *file = std::fopen(words[3], "rb");
    if (file == nullptr) return 3;
    std::vector<std::vector<char>> values;
    char kind[9] = {};
    unsigned long long size;
    while (std::fread(kind, 8, 1, file) == 1 && std::fread(&size, 8, 1, file) == 1) {
        std::vector<char> bytes(size);
        if (std::fread(bytes.data(), 1, size, file) != size) return 3;
        if (std::strcmp(kind, "scalar") != 0) {
            char *place;
            must(cudaMalloc(&place, size), "allocate");
            if (std::strcmp(kind, "input") == 0)
                must(cudaMemcpy(place, bytes.data(), size, cudaMemcpyHostToDevice), "copy");
            bytes.assign(reinterpret_cast<char *>(&place), reinterpret_cast<char *>(&place + 1));
        }
        values.push_back(bytes);
    }
    std::vector<void *> parameters;
    for (auto &value : values) parameters.push_back(value.data());
    unsigned n[8];
    for (int i = 0; i < 8; i++) n[i] = std::strtoul(words[4 + i], nullptr, 10);
    auto launch = n[7] != 0 ? cudaLaunchCooperativeKernel<void> : cudaLaunchKernel<void>;
    must(launch(static_cast<void *>(kernel), dim3(n[0], n[1], n[2]), dim3(n[3], n[4], n[5]), parameters.data(), n[6],
                nullptr), "launch");
    must(cudaDeviceSynchronize(), "run");
}

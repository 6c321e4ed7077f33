// A program that is ready before the virtual GPU is, one that never asks for it, one whose threads alone do.
#include <cstdio>
#include <cstring>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

__constant__ int factor = 2;
__device__ int added;
__managed__ int shared_by_all = 5;

__global__ void combine(int *x) { *x = *x * factor + added + shared_by_all; }

static bool python_is_here() {
    char line[4096];
    bool found = false;
    FILE *maps = std::fopen("/proc/self/maps", "r");
    while (maps && std::fgets(line, sizeof line, maps)) found = found || std::strstr(line, "libpython");
    if (maps) std::fclose(maps);
    return found;
}

static void work() {
    int x = 10, more = 100, *on_gpu = nullptr;
    cudaMemcpyToSymbol(added, &more, sizeof more);
    cudaMalloc(&on_gpu, sizeof x);
    cudaMemcpy(on_gpu, &x, sizeof x, cudaMemcpyHostToDevice);
    shared_by_all = 7;
    combine<<<1, 1>>>(on_gpu);
    cudaMemcpy(&x, on_gpu, sizeof x, cudaMemcpyDeviceToHost);
    std::printf("%d %s\n", x, cudaGetErrorString(cudaGetLastError()));
}

int main(int count, char **words) {
    std::printf("main: %s\n", python_is_here() ? "Python" : "no Python");
    if (count == 1) work();
    if (count > 1 && !std::strcmp(words[1], "thread")) std::thread(work).join();
    if (count > 1 && !std::strcmp(words[1], "fork")) {
        int *on_gpu;
        cudaMalloc(&on_gpu, 4);
        int status = fork() ? 0 : 100 + cudaMalloc(&on_gpu, 4);
        if (status) _exit(status);
        wait(&status);
        std::printf("%d\n", WEXITSTATUS(status));
    }
}

// A program that ends as its first argument says.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <spawn.h>
#include <stdexcept>
#include <unistd.h>

#include "scale.h"

struct Global {
    ~Global() { printf("global destroyed\n"); }
} global;

__global__ void scale(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= SCALE;
    if (i == 0) printf("kernel of %d\n", n);
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "return";
    float x[100], sum = 0, *device;
    for (int i = 0; i < 100; i++) x[i] = i;
    printf("start\n");
    cudaMalloc(&device, sizeof x);
    cudaMemcpy(device, x, sizeof x, cudaMemcpyHostToDevice);
    scale<<<4, 32>>>(device, strcmp(how, "beyond") ? 100 : 128);
    cudaMemcpy(x, device, sizeof x, cudaMemcpyDeviceToHost);
    for (float one : x) sum += one;
    printf("sum %g\n", sum);
    if (!strcmp(how, "exit")) exit(7);
    if (!strcmp(how, "abort")) abort();
    if (!strcmp(how, "_exit")) fflush(stdout), _exit(9);
    if (!strcmp(how, "term")) raise(SIGTERM);
    if (!strcmp(how, "echo"))
        for (int c; (c = getchar()) != EOF;) putchar(c);
    if (!strcmp(how, "again")) {  // as programs start themselves: by their own name
        char again[] = "exit", *words[] = {argv[0], again, nullptr};
        fflush(stdout);
        if (argc > 2 && posix_spawn(nullptr, argv[0], nullptr, nullptr, words, environ) == 0) _exit(0);
        execvp(argv[0], words);
    }
    if (!strcmp(how, "wait")) fflush(stdout), sleep(60);
    try {
        if (!strcmp(how, "throw")) throw std::runtime_error("thrown");
    } catch (const std::exception &error) {
        printf("caught %s\n", error.what());
    }
    return 3;
}

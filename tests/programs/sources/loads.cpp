// Loads the libraries that it is given, whose objects say when exit() takes them down.
#include <cuda_runtime.h>
#include <dlfcn.h>

int main(int count, char **files) {
    cudaFree(nullptr);
    for (int k = 1; k < count; k++)
        if (!dlopen(files[k], RTLD_NOW)) return k;
}

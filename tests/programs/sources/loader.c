/* A program that knows nothing of CUDA until it loads the library that its argument names. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
    void *library = dlopen(argv[argc - 1], RTLD_NOW);
    if (!library) return puts(dlerror()), 1;
    printf("answer %d\n", ((int (*)(void))dlsym(library, "answer"))());
    return 0;
}

// What the programs of this folder share: a check that says where it failed and ends the program.
#pragma once
#include <cstdio>
#include <cstdlib>

#define CHECK(condition)                                                       \
    do {                                                                       \
        if (!(condition)) {                                                    \
            std::printf("%s:%d: %s\n", __FILE__, __LINE__, #condition);        \
            std::exit(1);                                                      \
        }                                                                      \
    } while (0)

#define OK(call)                                                               \
    do {                                                                       \
        cudaError_t failed = (call);                                           \
        if (failed != cudaSuccess) {                                           \
            std::printf("%s:%d: %s: %s (%s)\n", __FILE__, __LINE__, #call,     \
                        cudaGetErrorName(failed), cudaGetErrorString(failed)); \
            std::exit(1);                                                      \
        }                                                                      \
    } while (0)

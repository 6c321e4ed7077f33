/* The types of cuSOLVER and the functions that the virtual one has (libraries/); NVIDIA's header has all. */
#ifndef WARPGLASS_CUSOLVERDN_H
#define WARPGLASS_CUSOLVERDN_H
#include <cublas_v2.h>
#include <cuComplex.h>
#include <cusolver_common.h>

typedef struct cusolverDnContext *cusolverDnHandle_t;
typedef struct cusolverDnParams *cusolverDnParams_t;
typedef struct syevjInfo *syevjInfo_t;
typedef struct gesvdjInfo *gesvdjInfo_t;
typedef enum {
    CUSOLVERDN_GETRF = 0, CUSOLVERDN_POTRF = 1, CUSOLVERDN_SYEVBATCHED = 2, CUSOLVERDN_GEQRF = 3,
    CUSOLVERDN_SYEVD = 4, CUSOLVERDN_GESVD = 5, CUSOLVERDN_GEEV = 6
} cusolverDnFunction_t;

#include <warpglass_cusolver.h>
#endif

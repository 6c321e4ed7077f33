/* The types of cuSOLVER's sparse part; its functions come with those of the others. */
#ifndef WARPGLASS_CUSOLVERSP_H
#define WARPGLASS_CUSOLVERSP_H
#include <cublas_v2.h>
#include <cusolver_common.h>
#include <cusparse.h>

typedef struct cusolverSpContext *cusolverSpHandle_t;
typedef struct csrqrInfo *csrqrInfo_t;

#include <warpglass_cusolver.h>
#endif

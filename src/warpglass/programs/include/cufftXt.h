/* What the virtual cuFFT has of cufftXt.h: transforms by the types of their data. */
#ifndef WARPGLASS_CUFFTXT_H
#define WARPGLASS_CUFFTXT_H
#include <cufft.h>

#endif

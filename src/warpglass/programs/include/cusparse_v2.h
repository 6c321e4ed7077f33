/* The name that cuSPARSE's header had once. */
#ifndef WARPGLASS_CUSPARSE_V2_H
#define WARPGLASS_CUSPARSE_V2_H
#include <cusparse.h>

#endif

// The kernel casts const away and normalises its input, which the caller has made read-only, in place.
// launch: grid=1 block=64 args=ro:f4[64]:rand,f4[64]
extern "C" __global__ void write_to_constant_input(const float *x, float *y) {
    float *to = BUGGY ? const_cast<float *>(x) : y;
    to[threadIdx.x] = x[threadIdx.x] / 2;  // BUG: read-only-write
}

// A float2 is loaded from an odd element.
// launch: grid=1 block=32 args=f4[66]:rand,out:f4[32]
extern "C" __global__ void odd_pointer(const float *x, float *y) {
    float2 v = *reinterpret_cast<const float2 *>(x + 2 * threadIdx.x + BUGGY);  // BUG: misaligned
    y[threadIdx.x] = v.x + v.y;
}

// Neighbours of a pixel: unsigned coordinates minus one wrap at the border.
// launch: grid=2,2 block=16,16 args=f4[1024]:rand,out:f4[1024]
extern "C" __global__ void pixel_border(const float *x, float *y) {
    unsigned i = blockIdx.x * 16 + threadIdx.x, j = blockIdx.y * 16 + threadIdx.y;
    unsigned left = BUGGY ? i - 1 : (i == 0 ? 0 : i - 1);
    float v = 0;
    if (left < 32 || BUGGY) v = x[j * 32 + (size_t)left];  // BUG: out-of-bounds
    y[j * 32 + i] = v;
}

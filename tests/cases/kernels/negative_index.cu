// The border of a picture is not treated: the pixel above the first row is before the array.
// launch: grid=2,2 block=8,8 args=f4[16,16]:rand,out:f4[16,16]
extern "C" __global__ void negative_index(const float *image, float *edge) {
    int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    float above = BUGGY || y > 0 ? image[16 * (y - 1) + x] : 0;  // BUG: out-of-bounds
    edge[16 * y + x] = image[16 * y + x] - above;
}

// Four floats are loaded at once from a place that is no multiple of 16 bytes.
// launch: grid=1 block=16 args=f4[68]:rand,out:f4[16]
extern "C" __global__ void misaligned_vector(const float *x, float *y) {
    int first = BUGGY ? 1 : 4;
    float4 v = *reinterpret_cast<const float4 *>(x + first + 4 * threadIdx.x);  // BUG: misaligned
    y[threadIdx.x] = v.x + v.y + v.z + v.w;
}

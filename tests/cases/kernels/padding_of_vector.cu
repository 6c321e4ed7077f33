// Points of three coordinates lie in four: to load the unset fourth with the others is fine, to add it is not.
// launch: grid=1 block=64 args=f4[192]:rand,out:f4[64]
extern "C" __global__ void padding_of_vector(const float *x, float *y) {
    __shared__ __align__(16) float point[64][4];
    int t = threadIdx.x;
    for (int k = 0; k < 3; k++) point[t][k] = x[3 * t + k];
    __syncthreads();
    float4 p = *reinterpret_cast<float4 *>(point[63 - t]);  // BUG: uninitialised-read
    y[t] = p.x + p.y + p.z + (BUGGY ? p.w : 0);  // BUG: uninitialised-read
}

// The mask in constant memory has five weights; the loop reads six.
// launch: grid=1 block=32 args=f4[32]:rand,out:f4[32],i4=5
__constant__ float weight[5] = {0.1f, 0.2f, 0.4f, 0.2f, 0.1f};
extern "C" __global__ void constant_past_end(const float *x, float *y, int width) {
    float sum = 0;
#pragma unroll 1
    for (int j = 0; BUGGY ? j <= width : j < width; j++) sum += weight[j] * x[(threadIdx.x + j) % 32];  // BUG: out-of-bounds
    y[threadIdx.x] = sum;
}

// Row softmax: the scratch of the maximum is used again for the sum before all have read the maximum.
// launch: grid=3 block=128 args=f4[384]:rand,out:f4[384]
extern "C" __global__ void softmax_row(const float *x, float *y) {
    __shared__ float s[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    float v = x[i];
    s[t] = v;
    __syncthreads();
    for (int h = 64; h > 0; h >>= 1) { if (t < h) s[t] = fmaxf(s[t], s[t + h]); __syncthreads(); }
    float top = s[0];  // OTHER
    if (!BUGGY) __syncthreads();
    float e = __expf(v - top);
    s[t] = e;  // BUG: shared-race
    __syncthreads();
    for (int h = 64; h > 0; h >>= 1) { if (t < h) s[t] += s[t + h]; __syncthreads(); }
    y[i] = e / s[0];
}

// A 1-D convolution guards its reads but not the thread itself, which writes past the end.
// launch: grid=4 block=32 args=f4[100]:rand,f4[5]:rand,out:f4[100],i4=100,i4=5
extern "C" __global__ void convolution_guard(const float *x, const float *mask, float *y, int n, int width) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (!BUGGY && i >= n) return;
    float sum = 0;
    for (int j = 0; j < width; j++) {
        int k = i - width / 2 + j;
        if (k >= 0 && k < n) sum += x[k] * mask[j];
    }
    y[i] = sum;  // BUG: out-of-bounds
}

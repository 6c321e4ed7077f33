// Ghost cells on the right are loaded by the first RADIUS threads from where the left ones should come.
// launch: grid=4 block=32 args=f4[128]:rand,out:f4[128],i4=128
extern "C" __global__ void wrong_halo(const float *x, float *y, int n) {
    const int R = 3;
    __shared__ float s[32 + 2 * R];
    int t = threadIdx.x, i = blockIdx.x * 32 + t;
    s[t + R] = x[i];
    if (t < R) s[t] = i >= R ? x[i - R] : 0;
    if (BUGGY ? t > 32 - R : t >= 32 - R) s[t + 2 * R] = i + R < n ? x[i + R] : 0;
    __syncthreads();
    float sum = 0;
    for (int k = 0; k <= 2 * R; k++) sum += s[t + k];  // BUG: uninitialised-read
    y[i] = sum;
}

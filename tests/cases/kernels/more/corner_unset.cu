// A tile with a border of one has its edges loaded and its corners forgotten.
// launch: grid=1 block=8x8 args=f4[256]:rand,f4[64]
extern "C" __global__ void corner_unset(const float *x, float *y) {
    __shared__ float s[10][10];
    int i = threadIdx.x + 1, j = threadIdx.y + 1;
    s[j][i] = x[j * 16 + i];
    if (i == 1) s[j][0] = x[j * 16];
    if (i == 8) s[j][9] = x[j * 16 + 9];
    if (j == 1) s[0][i] = x[i];
    if (j == 8) s[9][i] = x[9 * 16 + i];
    if (!BUGGY && (i == 1 || i == 8) && (j == 1 || j == 8)) s[j == 1 ? 0 : 9][i == 1 ? 0 : 9] = x[0];
    __syncthreads();
    float sum = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) sum += s[j + dy][i + dx];  // BUG: uninitialised-read
    y[(j - 1) * 8 + i - 1] = sum;
}

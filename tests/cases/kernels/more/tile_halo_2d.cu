// A 2-D tile with halo: corner cells are loaded by nobody.
// launch: grid=2,2 block=16,16 args=f4[1024]:rand,out:f4[1024],i4=32
extern "C" __global__ void tile_halo_2d(const float *x, float *y, int n) {
    __shared__ float s[18][18];
    int tx = threadIdx.x, ty = threadIdx.y, i = blockIdx.x * 16 + tx, j = blockIdx.y * 16 + ty;
    auto at = [&](int r, int c) { return r >= 0 && r < n && c >= 0 && c < n ? x[r * n + c] : 0.0f; };
    s[ty + 1][tx + 1] = at(j, i);
    if (tx == 0) s[ty + 1][0] = at(j, i - 1);
    if (tx == 15) s[ty + 1][17] = at(j, i + 1);
    if (ty == 0) s[0][tx + 1] = at(j - 1, i);
    if (ty == 15) s[17][tx + 1] = at(j + 1, i);
    if (!BUGGY && tx < 2 && ty < 2) s[17 * ty][17 * tx] = at(j + 16 * ty - 1 , i + 16 * tx - 1);
    __syncthreads();
    float sum = 0;
    for (int a = 0; a < 3; a++) for (int b = 0; b < 3; b++) sum += s[ty + a][tx + b];  // BUG: uninitialised-read
    y[j * n + i] = sum;
}

// The padding column of a tile is never set, and a loop over the padded width adds it up.
// launch: grid=1 block=16,16 args=f4[16,16]:rand,out:f4[16]
extern "C" __global__ void bank_padding_unset(const float *x, float *y) {
    __shared__ float tile[16][17];
    int column = threadIdx.x, row = threadIdx.y;
    tile[row][column] = x[16 * row + column];
    __syncthreads();
    if (row == 0) {
        float sum = 0;
        for (int k = 0; k < (BUGGY ? 17 : 16); k++) sum += tile[column][k];  // BUG: uninitialised-read
        y[column] = sum;
    }
}

// A tile is read across before all of its rows are there; its padding column is never touched, which is right.
// launch: grid=2,2 block=16,16 args=all:f4[32,32]:rand,out:f4[32,32]
extern "C" __global__ void transpose(const float *x, float *y) {
    __shared__ float tile[16][17];
    int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = x[32 * row + column];  // OTHER
    if (!BUGGY) __syncthreads();
    column = blockIdx.y * 16 + threadIdx.x;
    row = blockIdx.x * 16 + threadIdx.y;
    y[32 * row + column] = tile[threadIdx.x][threadIdx.y];  // BUG: shared-race
}

// A tile declared for one shape of block is used by another.
// launch buggy: grid=1 block=8,32 args=f4[256]:rand,f4[256]
// launch clean: grid=1 block=32,8 args=f4[256]:rand,f4[256]
extern "C" __global__ void rows_and_columns(const float *x, float *y) {
    __shared__ float tile[8][33];
    int i = threadIdx.y * blockDim.x + threadIdx.x;
    tile[threadIdx.y][threadIdx.x] = x[i];  // BUG: out-of-bounds
    __syncthreads();
    y[i] = tile[threadIdx.y][blockDim.x - 1 - threadIdx.x];  // BUG: out-of-bounds
}

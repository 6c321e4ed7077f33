// Matrix product, square matrices of floats: every element on its own, and with tiles in shared memory.
// `warpglass profile examples/matmul.cu:naive --grid 8x8 --block 16x16
//      --arg 'f4[128,128]:rand' --arg 'f4[128,128]:rand' --arg 'f4[128,128]' --arg i4=128 --lines`
// counts the first one.
#define TILE 16

extern "C" __global__ void naive(const float *a, const float *b, float *c, int n)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n || column >= n) return;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}

// Every element of a tile is read from global memory once, and used by TILE threads of the block.
extern "C" __global__ void tiled(const float *a, const float *b, float *c, int n)
{
    __shared__ float of_a[TILE][TILE], of_b[TILE][TILE];
    const int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int start = 0; start < n; start += TILE) {
        const int across = start + threadIdx.x, down = start + threadIdx.y;
        of_a[threadIdx.y][threadIdx.x] = row < n && across < n ? a[row * n + across] : 0;
        of_b[threadIdx.y][threadIdx.x] = down < n && column < n ? b[down * n + column] : 0;
        __syncthreads();
        for (int k = 0; k < TILE; ++k) sum += of_a[threadIdx.y][k] * of_b[k][threadIdx.x];
        __syncthreads();
    }
    if (row < n && column < n) c[row * n + column] = sum;
}

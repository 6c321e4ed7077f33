// Tensor cores by mma.h: products of tiles, alone and in a tiled product through shared memory.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

template <typename In, typename Out, int M, int N, int K> __global__ void one_tile(const In *a, const In *b, Out *c)
{
    wmma::fragment<wmma::matrix_a, M, N, K, In, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, M, N, K, In, wmma::col_major> y;
    wmma::fragment<wmma::accumulator, M, N, K, Out> z;
    wmma::load_matrix_sync(x, a, K);
    wmma::load_matrix_sync(y, b, K);
    wmma::fill_fragment(z, Out(0));
    wmma::mma_sync(z, x, y, z);
    for (int k = 0; k < z.num_elements; ++k) z.x[k] = z.x[k] + Out(1);
    wmma::store_matrix_sync(c, z, N, wmma::mem_row_major);
}

// Blocks of 8 warps make 128 x 128 of the product; each warp makes 2 x 4 tiles of it.
template <typename In, typename Out, int K> __global__ void tiled(const In *a, const In *b, const Out *c, Out *d, int n)
{
    constexpr int CHUNK = 4, ROW = CHUNK * K + 16;
    extern __shared__ __align__(128) unsigned char bytes[];
    In(*tile)[ROW] = reinterpret_cast<In(*)[ROW]>(bytes);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int row = blockIdx.y * 128, column = blockIdx.x * 128;
    wmma::fragment<wmma::accumulator, 16, 16, K, Out> sums[2][4];
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 4; ++j)
            wmma::load_matrix_sync(sums[i][j], c + (row + (warp / 2 * 2 + i) * 16) * n + column + (warp % 2 * 4 + j) * 16,
                                   n, wmma::mem_row_major);
    for (int k = 0; k < n; k += CHUNK * K) {
        for (int line = warp; line < 256; line += 8) {
            const In *from = line < 128 ? a + (row + line) * n + k : b + (column + line - 128) * n + k;
            for (int at = lane; at < CHUNK * K; at += 32) tile[line][at] = from[at];
        }
        __syncthreads();
#pragma unroll
        for (int step = 0; step < CHUNK; ++step) {
            wmma::fragment<wmma::matrix_a, 16, 16, K, In, wmma::row_major> x[2];
            wmma::fragment<wmma::matrix_b, 16, 16, K, In, wmma::col_major> y[4];
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                wmma::load_matrix_sync(x[i], &tile[(warp / 2 * 2 + i) * 16][step * K], ROW);
#pragma unroll
                for (int j = 0; j < 4; ++j) {
                    if (i == 0) wmma::load_matrix_sync(y[j], &tile[128 + (warp % 2 * 4 + j) * 16][step * K], ROW);
                    wmma::mma_sync(sums[i][j], x[i], y[j], sums[i][j]);
                }
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 4; ++j)
            wmma::store_matrix_sync(d + (row + (warp / 2 * 2 + i) * 16) * n + column + (warp % 2 * 4 + j) * 16,
                                    sums[i][j], n, wmma::mem_row_major);
}

template __global__ void one_tile<__half, float, 16, 16, 16>(const __half *, const __half *, float *);
template __global__ void one_tile<__half, __half, 32, 8, 16>(const __half *, const __half *, __half *);
template __global__ void one_tile<__nv_bfloat16, float, 8, 32, 16>(const __nv_bfloat16 *, const __nv_bfloat16 *, float *);
template __global__ void one_tile<signed char, int, 16, 16, 16>(const signed char *, const signed char *, int *);
template __global__ void one_tile<double, double, 8, 8, 4>(const double *, const double *, double *);
template __global__ void tiled<__half, float, 16>(const __half *, const __half *, const float *, float *, int);
template __global__ void tiled<__nv_bfloat16, float, 16>(const __nv_bfloat16 *, const __nv_bfloat16 *, const float *, float *, int);
template __global__ void tiled<unsigned char, int, 16>(const unsigned char *, const unsigned char *, const int *, int *, int);

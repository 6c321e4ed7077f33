// A block larger than its output tile: see tiled.py and tiled_28.py.
#define RADIUS 2
#define WIDTH (2 * RADIUS + 1)

template <typename T, int TILE>
__global__ void tiled(T *p, const T *n, int rows, int columns, const T *mask)
{
    __shared__ T held[TILE + 2 * RADIUS][TILE + 2 * RADIUS];
    const int x = threadIdx.x, y = threadIdx.y;
    const int i = blockIdx.y * TILE + y, j = blockIdx.x * TILE + x;
    const int row = i - RADIUS, column = j - RADIUS;
    const bool inside = row >= 0 && row < rows && column >= 0 && column < columns;
    held[y][x] = inside ? n[row * columns + column] : T(0);
    __syncthreads();
    if (y >= TILE || x >= TILE || i >= rows || j >= columns) return;
    T total = 0;
    for (int u = 0; u < WIDTH; ++u)
        for (int v = 0; v < WIDTH; ++v) total += held[y + u][x + v] * mask[u * WIDTH + v];
    p[i * columns + j] = total;
}

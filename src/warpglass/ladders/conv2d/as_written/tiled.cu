// The result replaces the picture: see tiled.py.
#define RADIUS 2
#define WIDTH (2 * RADIUS + 1)
#define TILE 16

template <typename T>
__global__ void tiled(T *p, T *n, int rows, int columns, const T *mask)
{
    __shared__ T held[TILE + 2 * RADIUS][TILE + 2 * RADIUS];
    const int x = threadIdx.x, y = threadIdx.y;
    const int i = blockIdx.y * TILE + y, j = blockIdx.x * TILE + x;
    const int row = i - RADIUS, column = j - RADIUS;
    if (row >= 0 && row < rows && column >= 0 && column < columns)
        held[y][x] = n[row * columns + column];
    else
        held[y][x] = 0;
    __syncthreads();
    if (y < TILE && x < TILE) {
        T output = 0;
        for (int u = 0; u < WIDTH; ++u)
            for (int v = 0; v < WIDTH; ++v) output += mask[u * WIDTH + v] * held[y + u][x + v];
        if (i < rows && j < columns) n[i * columns + j] = output;
    }
}

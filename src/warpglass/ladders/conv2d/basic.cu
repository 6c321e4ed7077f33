// One element a thread: see basic.py.
#define RADIUS 2
#define WIDTH (2 * RADIUS + 1)

template <typename T>
__global__ void basic(T *p, const T *n, int rows, int columns, const T *mask)
{
    const int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows || j >= columns) return;
    T total = 0;
    for (int u = 0; u < WIDTH; ++u)
        for (int v = 0; v < WIDTH; ++v) {
            const int row = i + u - RADIUS, column = j + v - RADIUS;
            if (row >= 0 && row < rows && column >= 0 && column < columns)
                total += n[row * columns + column] * mask[u * WIDTH + v];
        }
    p[i * columns + j] = total;
}

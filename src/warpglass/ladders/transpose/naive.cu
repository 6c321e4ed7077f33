// Read by rows, stored by columns: see naive.py.
template <typename T>
__global__ void naive(const T *a, T *b, unsigned int rows, unsigned int columns)
{
    const unsigned int column = blockIdx.x * 32 + threadIdx.x;
#pragma unroll
    for (unsigned int step = 0; step < 32; step += 8) {
        const unsigned int row = blockIdx.y * 32 + threadIdx.y + step;
        if (row < rows && column < columns) b[column * rows + row] = a[row * columns + column];
    }
}

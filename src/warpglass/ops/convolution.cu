// Convolution with a mask of any extents, which stays in memory: see convolution.py.
typedef long long Count;

template <typename T>
__global__ void around(const T *x, const T *mask, T *y, Count rows, Count columns, Count height, Count width)
{
    const Count threads = static_cast<Count>(gridDim.x) * blockDim.x;
    for (Count at = static_cast<Count>(blockIdx.x) * blockDim.x + threadIdx.x; at < rows * columns; at += threads) {
        const Count top = at / columns - height / 2, left = at % columns - width / 2;
        const Count last_row = min(height, rows - top), last_column = min(width, columns - left);
        T total = T(0);
        for (Count u = max(Count(0), -top); u < last_row; ++u)
            for (Count v = max(Count(0), -left); v < last_column; ++v)
                total += x[(top + u) * columns + left + v] * mask[u * width + v];
        y[at] = total;
    }
}

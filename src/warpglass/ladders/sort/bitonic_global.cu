// One step of a bitonic network over the whole array: see bitonic_global.py.
template <typename T>
__global__ void bitonic_step(T *x, unsigned int n, unsigned int stride, unsigned int mirror)
{
    const unsigned int t = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned int low = 2 * t - (t & (stride - 1)), high = low ^ mirror;
    if (high >= n) return;
    const T a = x[low], b = x[high];
    if (!(a <= b) && b == b) {  // NaN comes after every number
        x[low] = b;
        x[high] = a;
    }
}

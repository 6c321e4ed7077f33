template <typename T> __global__ void smooth(const T *x, T *y, int n) {
    __shared__ T tile[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = x[i];
    y[i] = (tile[threadIdx.x] + tile[(threadIdx.x + 1) % 128]) / 2;
}

// One thread adds all products of its block, which the other warps may not have stored yet.
// launch: grid=2 block=64 args=f4[128]:rand,f4[128]:rand,out:f4[2]
extern "C" __global__ void dot_by_one_thread(const float *a, const float *b, float *dot) {
    __shared__ float product[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    product[threadIdx.x] = a[i] * b[i];  // OTHER
    if (BUGGY) __syncwarp();
    else __syncthreads();
    if (threadIdx.x == 0) {
        float sum = 0;
        for (int k = 0; k < 64; k++) sum += product[k];  // BUG: shared-race
        dot[blockIdx.x] = sum;
    }
}

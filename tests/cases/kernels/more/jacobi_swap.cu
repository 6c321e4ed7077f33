// Jacobi steps in one launch: the blocks only wait for themselves before they read their neighbours' halos.
// launch: grid=4 block=32 args=f4[130]:rand,f4[130]
extern "C" __global__ void jacobi_swap(float *a, float *b) {
    int i = blockIdx.x * 32 + threadIdx.x + 1;
    for (int step = 0; step < (BUGGY ? 4 : 1); step++) {
        b[i] = (a[i - 1] + a[i + 1]) / 2;  // BUG: global-race
        __syncthreads();
        float *swap = a;
        a = b;
        b = swap;
    }
}

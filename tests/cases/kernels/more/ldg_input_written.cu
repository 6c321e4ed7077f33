// The input is also the output, shifted by one element: one block reads what another writes.
// launch: grid=4 block=32 args=f4[129]:rand
extern "C" __global__ void ldg_input_written(float *a) {
    int i = blockIdx.x * 32 + threadIdx.x;
    float v = a[BUGGY ? i + 1 : i];  // OTHER
    __syncthreads();
    a[i] = v * 2;  // BUG: global-race
}

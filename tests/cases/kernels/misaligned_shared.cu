// Dynamic shared memory is cut into an odd number of bytes and then doubles.
// launch: grid=1 block=32 shared=512 args=u1[32]:rand,out:f8[32]
extern "C" __global__ void misaligned_shared(const unsigned char *x, double *y) {
    extern __shared__ unsigned char pool[];
    int t = threadIdx.x;
    double *value = reinterpret_cast<double *>(pool + (BUGGY ? 36 : 40));
    pool[t] = x[t];
    value[t] = x[t];  // BUG: misaligned
    __syncwarp();
    y[t] = value[31 - t] + pool[31 - t];  // BUG: misaligned
}

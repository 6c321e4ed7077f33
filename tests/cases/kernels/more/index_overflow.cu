// The product of row and pitch does not fit into 32 bits, so the address is before the array.
// launch: grid=1 block=32 args=f4[4096]:rand,out:f4[32],i4=70000
extern "C" __global__ void index_overflow(const float *x, float *y, int pitch) {
    int row = threadIdx.x + 60000;
    long long at = BUGGY ? row * pitch - 60000LL * pitch : (long long)row * pitch - 60000LL * pitch;
    y[threadIdx.x] = x[at % 4096];  // BUG: out-of-bounds
}

// Bytes of a record are copied by one warp and the record is read as words by another.
// launch: grid=1 block=128 args=u1[128]:rand,out:u4[32]
extern "C" __global__ void byte_copy(const unsigned char *x, unsigned *y) {
    __shared__ __align__(4) unsigned char s[128];
    int t = threadIdx.x;
    s[t] = x[t];  // OTHER
    if (!BUGGY) __syncthreads();
    if (t < 32) y[t] = reinterpret_cast<unsigned *>(s)[t];  // BUG: shared-race
}

// Setting a byte through its word writes the neighbours' bytes, too; bytes of one word may be written as bytes.
// launch: grid=1 block=128 args=i4[128]:rand,out:u1[128]
extern "C" __global__ void byte_flags(const int *x, unsigned char *y) {
    __shared__ unsigned word[32];
    int t = threadIdx.x;
    if (t < 32) word[t] = 0;
    __syncthreads();
    unsigned even = x[t] % 2 == 0;
    int at = t % 32 * 4 + t / 32;  // four warps share each word
#if BUGGY
    word[at / 4] |= even << 8 * (at % 4);  // BUG: shared-race
#else
    reinterpret_cast<unsigned char *>(word)[at] = even;
#endif
    __syncthreads();
    y[t] = word[t / 4] >> 8 * (t % 4);
}

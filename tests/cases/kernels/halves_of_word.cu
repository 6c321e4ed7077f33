// Two threads own the two halves of a word; reading the word needs both to be there.
// launch: grid=1 block=128 args=u2[128]:rand,out:u4[64]
extern "C" __global__ void halves_of_word(const unsigned short *x, unsigned *y) {
    __shared__ unsigned short half[128];
    int t = threadIdx.x;
    half[t] = x[t];  // OTHER
    if (!BUGGY) __syncthreads();
    if (t < 64) y[t] = reinterpret_cast<unsigned *>(half)[t];  // BUG: shared-race
}

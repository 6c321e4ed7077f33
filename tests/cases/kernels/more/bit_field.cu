// Two threads of different warps change two bit fields of one word, which loads and stores the whole word.
// launch: grid=1 block=64 args=i4[64]:arange,out:i4[64]
struct Flags { unsigned low : 5; unsigned high : 9; };
extern "C" __global__ void bit_field(const int *x, unsigned *y) {
    __shared__ Flags flags[32];
    __shared__ unsigned char high[64];
    int t = threadIdx.x;
    if (t < 32) reinterpret_cast<unsigned *>(flags)[t] = 0;
    __syncthreads();
    if (t < 32) flags[t].low = x[t];  // BUG: shared-race
    else if (BUGGY) flags[t - 32].high = x[t];  // OTHER
    else high[t] = x[t];
    __syncthreads();
    y[t] = flags[t % 32].low + (BUGGY ? flags[t % 32].high : high[32 + t % 32]);
}

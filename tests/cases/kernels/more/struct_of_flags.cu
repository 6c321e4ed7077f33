// Threads set bits of one byte in a structure.
// launch: grid=1 block=64 args=i4[64]:rand,i4[1]
struct Flags { unsigned even : 1, odd : 1; };
extern "C" __global__ void struct_of_flags(const int *x, int *y) {
    __shared__ Flags f;
    __shared__ int even, odd;
    int t = threadIdx.x;
    if (t == 0) f = Flags{0, 0}, even = odd = 0;
    __syncthreads();
    if (BUGGY) {
        if (t == 3) f.even = 1;  // BUG: shared-race
        if (t == 40) f.odd = 1;  // OTHER
    } else {
        if (t == 3) even = 1;
        if (t == 40) odd = 1;
    }
    __syncthreads();
    if (t == 0) *y = f.even + 2 * f.odd + even + odd + x[0] % 2;
}

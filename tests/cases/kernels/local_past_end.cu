// A private array of four elements is filled with five.
// launch: grid=1 block=32 args=i4[32]:rand,out:i4[32],i4=5
extern "C" __global__ void local_past_end(const int *x, int *y, int n) {
    int digit[4];
    int v = x[threadIdx.x] & 0xffff;
#pragma unroll 1
    for (int i = 0; i < (BUGGY ? n : n - 1); i++, v /= 16) digit[i] = v % 16;  // BUG: out-of-bounds
    y[threadIdx.x] = digit[v & 3] + digit[x[threadIdx.x] & 3];
}

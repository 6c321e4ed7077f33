// Threads of different warps write neighbouring members of one record, each of its own size.
// launch: grid=1 block=96 args=i4[32]:arange,out:i4[32]
struct Record { char kind; char level; short length; int value; };
extern "C" __global__ void interleaved_records(const int *x, int *y) {
    __shared__ Record r[32];
    int t = threadIdx.x, l = t % 32;
    if (t < 32) { r[l].kind = x[l]; if (BUGGY) *(short *)&r[l] = x[l]; }  // OTHER
    else if (t < 64) r[l].level = 2 * x[l];  // BUG: shared-race
    else { r[l].length = x[l] % 7; r[l].value = x[l] * x[l]; }
    __syncthreads();
    if (t < 32) y[l] = r[31 - l].kind + r[31 - l].level + r[31 - l].length + r[31 - l].value;
}

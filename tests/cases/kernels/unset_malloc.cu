// malloc does not clear what it gives; sums must begin with zeros.
// launch: grid=1 block=4 args=i4[16]:rand,out:i4[4]
extern "C" __global__ void unset_malloc(const int *x, int *y) {
    int *count = static_cast<int *>(malloc(8 * sizeof(int)));
    if (!BUGGY) for (int i = 0; i < 8; i++) count[i] = 0;
    for (int i = 0; i < 4; i++) count[x[4 * threadIdx.x + i] & 7] += 1;  // BUG: uninitialised-read
    y[threadIdx.x] = count[x[4 * threadIdx.x] & 7];
    free(count);
}

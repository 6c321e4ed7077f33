// A structure is copied with the unset bytes between its members, which is fine; a member left out is not.
// launch: grid=1 block=64 args=i4[64]:rand,out:i4[64]
struct Entry { char key; int value; };
extern "C" __global__ void padding_of_struct(const int *x, int *y) {
    __shared__ Entry entry[64], sorted[64];
    int t = threadIdx.x;
    entry[t].key = x[t];
    if (!BUGGY || t != 3) entry[t].value = x[t] / 256;
    __syncthreads();
    reinterpret_cast<long long *>(sorted)[t] = reinterpret_cast<long long *>(entry)[63 - t];
    __syncthreads();
    y[t] = sorted[t].key + sorted[t].value;  // BUG: uninitialised-read
}

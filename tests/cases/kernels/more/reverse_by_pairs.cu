// Elements are swapped with their mirror by all threads, not by half of them.
// launch: grid=2 block=64 args=f4[128]:rand,i4=128
extern "C" __global__ void reverse_by_pairs(float *x, int n) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < (BUGGY ? n : n / 2)) {
        float a = x[i], b = x[n - 1 - i];  // BUG: global-race
        x[i] = b;  // BUG: global-race
        x[n - 1 - i] = a;  // BUG: global-race
    }
}

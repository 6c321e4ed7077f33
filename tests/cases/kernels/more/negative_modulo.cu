// The index of the left neighbour on a ring is taken modulo n of a negative number.
// launch: grid=1 block=32 args=f4[32]:rand,out:f4[32],i4=32
extern "C" __global__ void negative_modulo(const float *x, float *y, int n) {
    int i = threadIdx.x;
    int left = BUGGY ? (i - 1) % n : (i - 1 + n) % n;
    y[i] = x[left] + x[i];  // BUG: out-of-bounds
}

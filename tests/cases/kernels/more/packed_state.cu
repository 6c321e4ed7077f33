// Value and flag lie in one word that is stored and loaded as a whole, so neither needs a fence.
// launch: grid=4 block=1 args=i4[4]:arange,i8[4],out:i4[4]
extern "C" __global__ void packed_state(const int *x, unsigned long long *state, int *y) {
    int b = blockIdx.x;
    unsigned before = 0;
    if (b > 0) {
        if (BUGGY) {
            int *words = (int *)&state[b - 1];
            while (*(volatile int *)&words[1] == 0) {}
            before = words[0];  // BUG: global-race
        } else {
            unsigned long long s;
            do s = *(volatile unsigned long long *)&state[b - 1]; while (s >> 32 == 0);
            before = (unsigned)s;
        }
    }
    if (BUGGY) {
        ((int *)&state[b])[0] = before + x[b];  // OTHER
        *(volatile int *)&((int *)&state[b])[1] = 1;
    } else {
        *(volatile unsigned long long *)&state[b] = 1ull << 32 | (before + x[b]);
    }
    y[b] = before;
}

// A sum of doubles by compare and swap may look at the old value by a plain load, since the swap compares it.
// launch: grid=3 block=32 args=f8[96]:rand,f8[1]
extern "C" __global__ void cas_double_add(const double *x, double *sum) {
    unsigned long long *word = (unsigned long long *)sum, old = *word, assumed;  // OTHER
    double v = x[blockIdx.x * 32 + threadIdx.x];
    if (BUGGY) { *sum = *sum + v; return; }  // BUG: global-race
    do {
        assumed = old;
        old = atomicCAS(word, assumed, __double_as_longlong(v + __longlong_as_double(assumed)));
    } while (assumed != old);
}

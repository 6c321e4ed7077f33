// Producer and consumer warps hand two stages to and fro by four named barriers; one says "empty" too early.
// launch: grid=1 block=64 args=f4[256]:rand,out:f4[32]
__device__ void arrive(int id) { asm volatile("bar.arrive %0, 64;" ::"r"(id) : "memory"); }
__device__ void wait(int id) { asm volatile("bar.sync %0, 64;" ::"r"(id) : "memory"); }
extern "C" __global__ void ring_of_stages(const float *x, float *y) {
    __shared__ float stage[2][32];
    int lane = threadIdx.x % 32;
    if (threadIdx.x < 32) {
        for (int i = 0; i < 8; i++) {
            if (i >= 2) wait(3 + i % 2);
            stage[i % 2][lane] = x[32 * i + lane];  // BUG: shared-race
            arrive(1 + i % 2);
        }
    } else {
        float sum = 0;
        for (int i = 0; i < 8; i++) {
            wait(1 + i % 2);
            if (BUGGY && i < 6) arrive(3 + i % 2);
            sum += stage[i % 2][31 - lane];  // OTHER
            if (!BUGGY && i < 6) arrive(3 + i % 2);
        }
        y[lane] = sum;
    }
}

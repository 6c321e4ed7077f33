// Two groups of warps use the same named barrier for different things.
// launch: grid=1 block=128 args=out:i4[128]
__device__ void meet(int id) { asm volatile("bar.sync %0, 64;" ::"r"(id) : "memory"); }
extern "C" __global__ void one_name_two_groups(int *y) {
    __shared__ int s[128];
    int t = threadIdx.x, w = t / 32;
    // warps 0 and 1 belong together, 2 and 3 as well; named by the warp's parity, 0 meets 2
    s[t] = t;  // OTHER
    meet(BUGGY ? 1 + w % 2 : 1 + w / 2);
    y[t] = s[t ^ 32];  // BUG: shared-race
}

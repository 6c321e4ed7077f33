// A block waits for a flag that the other sets only if there is work to do, and there is none.
// launch: grid=2 block=32 timeout=3 args=i4[1],i4=0
extern "C" __global__ void spin_for_nobody(int *flag, int work) {
    volatile int *ready = flag;
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0 && (!BUGGY || work > 0)) *ready = 1;
    } else {
        while (*ready == 0) {}  // BUG: timeout
    }
}

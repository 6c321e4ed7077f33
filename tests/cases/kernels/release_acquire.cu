// The flag is stored with release and loaded with acquire; relaxed accesses order nothing but themselves.
// launch: grid=2 block=1 args=f4[4]:rand,f4[4],i4[1],out:f4[4]
extern "C" __global__ void release_acquire(const float *x, float *box, int *flag, float *y) {
    if (blockIdx.x == 0) {
        for (int i = 0; i < 4; i++) box[i] = x[i];  // OTHER
        if (BUGGY) asm volatile("st.relaxed.gpu.global.s32 [%0], 1;" ::"l"(flag) : "memory");
        else asm volatile("st.release.gpu.global.s32 [%0], 1;" ::"l"(flag) : "memory");
    } else {
        int seen;
        do {
            if (BUGGY) asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
            else asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
        } while (seen == 0);
        for (int i = 0; i < 4; i++) y[i] = box[i];  // BUG: global-race
    }
}

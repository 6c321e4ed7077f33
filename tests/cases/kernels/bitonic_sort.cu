// Each merge step of a bitonic sort compares what the step before has moved: a barrier belongs to every step.
// launch: grid=1 block=128 args=f4[128]:rand
extern "C" __global__ void bitonic_sort(float *x) {
    __shared__ float s[128];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int size = 2; size <= 128; size *= 2) {
        for (int stride = size / 2; stride > 0; stride /= 2) {
            int other = t ^ stride;
            if (other > t) {
                float low = s[t], high = s[other];  // OTHER
                if ((low > high) == ((t & size) == 0)) { s[t] = high; s[other] = low; }  // BUG: shared-race
            }
            if (!BUGGY) __syncthreads();
            else __syncwarp();
        }
        __syncthreads();
    }
    x[t] = s[t];
}

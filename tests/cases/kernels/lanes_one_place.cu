// All lanes store into one place in one instruction: which value stays is anybody's guess if they differ.
// launch: grid=1 block=32 args=f4[32]:rand,out:f4[1]
extern "C" __global__ void lanes_one_place(const float *x, float *y) {
    __shared__ float s;
    if (!BUGGY) {
        if (threadIdx.x == 31) s = x[threadIdx.x];
    } else {
        s = x[threadIdx.x];  // BUG: warp-race
    }
    __syncwarp();
    if (threadIdx.x == 0) y[0] = s;
}

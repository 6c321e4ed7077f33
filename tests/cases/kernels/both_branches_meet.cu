// Both branches of a warp have a warp barrier of their own with the whole mask, which pair up; without, they race.
// launch: grid=1 block=32 args=f4[32]:rand,out:f4[32]
extern "C" __global__ void both_branches_meet(const float *x, float *y) {
    __shared__ float s[32];
    int l = threadIdx.x;
    if (l % 2) {
        s[l] = x[l];  // OTHER
        if (!BUGGY) __syncwarp();
        y[l] = s[l - 1];  // BUG: warp-race
    } else {
        s[l] = -x[l];  // OTHER
        if (!BUGGY) __syncwarp();
        y[l] = s[l + 1] + 1;  // OTHER
    }
}

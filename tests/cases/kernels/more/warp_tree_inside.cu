// The warp barrier of a tree of sums stands inside the branch of those who add.
// launch: grid=1 block=32 args=f4[32]:rand,out:f4[32]
extern "C" __global__ void warp_tree_inside(const float *x, float *y) {
    __shared__ float s[32];
    int l = threadIdx.x;
    s[l] = x[l];
    __syncwarp();
    for (int h = 16; h > 0; h /= 2) {
        if (l < h) {
            s[l] += s[l + h];
            if (BUGGY) __syncwarp();  // BUG: sync-mask
        }
        if (!BUGGY) __syncwarp();
    }
    __syncwarp();
    y[l] = s[0] * x[l];
}

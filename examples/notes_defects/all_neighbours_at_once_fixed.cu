// Odd pairs wait for the even ones, so no element is in two pairs at a time.
// warpglass check examples/notes_defects/all_neighbours_at_once_fixed.cu:pass --grid 1 --block 64
//     --arg f4[65]:rand
extern "C" __global__ void pass(float *x) {
    __shared__ float s[65];
    int t = threadIdx.x;
    s[t] = x[t];
    if (t == 0) s[64] = x[64];
    __syncthreads();
    for (int odd = 0; odd < 2; odd++) {
        if (t % 2 == odd && s[t] > s[t + 1]) {
            float greater = s[t];
            s[t] = s[t + 1];
            s[t + 1] = greater;
        }
        __syncthreads();
    }
    x[t] = s[t];
    if (t == 0) x[64] = s[64];
}

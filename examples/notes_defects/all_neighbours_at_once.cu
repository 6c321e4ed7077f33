// Every thread compares its element with the next one, so each element is in two pairs at once.
// warpglass check examples/notes_defects/all_neighbours_at_once.cu:pass --grid 1 --block 64
//     --arg f4[65]:rand
extern "C" __global__ void pass(float *x) {
    __shared__ float s[65];
    int t = threadIdx.x;
    s[t] = x[t];
    if (t == 0) s[64] = x[64];
    __syncthreads();
    if (s[t] > s[t + 1]) {  // shared-race
        float greater = s[t];  // shared-race
        s[t] = s[t + 1];  // shared-race
        s[t + 1] = greater;  // shared-race
    }
    __syncthreads();
    x[t] = s[t];
    if (t == 0) x[64] = s[64];
}

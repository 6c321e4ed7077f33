// Red and black cells are swept in turn in one kernel; a wrong parity makes rows sweep the same colour's neighbours.
// launch: grid=1 block=16,16 args=f4[18,18]:rand
extern "C" __global__ void red_black(float *u) {
    int x = threadIdx.x + 1, y = threadIdx.y + 1;
    for (int colour = 0; colour < 2; colour++) {
        if ((BUGGY ? x : x + y) % 2 == colour)
            u[18 * y + x] = 0.25f * (u[18 * y + x - 1] + u[18 * y + x + 1] + u[18 * (y - 1) + x] + u[18 * (y + 1) + x]);  // BUG: global-race
        __syncthreads();
    }
}

// The game of life on a torus of bytes: the next generation must go to another array than the present one.
// launch: grid=2,2 block=8,8 args=u1[16,16]:rand,u1[16,16]
extern "C" __global__ void bool_grid(unsigned char *now, unsigned char *next) {
    int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, alive = 0;
    for (int k = 0; k < 9; k++)
        if (k != 4) alive += now[16 * ((y + k / 3 + 15) % 16) + (x + k % 3 + 15) % 16] & 1;  // OTHER
    unsigned char *to = BUGGY ? now : next;
    to[16 * y + x] = alive == 3;  // BUG: global-race
}

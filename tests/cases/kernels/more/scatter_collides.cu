// A scatter by a permutation that is none: an odd stride modulo an odd size.
// launch: grid=3 block=64 args=f4[192]:rand,f4[192]
extern "C" __global__ void scatter_collides(const float *x, float *y) {
    int i = blockIdx.x * 64 + threadIdx.x;
    int to = BUGGY ? (i * 7) % 189 : (i * 7) % 192;
    y[to] = x[i];  // BUG: global-race
}

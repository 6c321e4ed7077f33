// A smoothing that is called with one array for both its input and its output.
// launch: grid=4 block=64 args=f4[258]:rand,out:f4[256]
extern "C" __global__ void input_is_output(float *x, float *y) {
    float *to = BUGGY ? x + 1 : y;
    int i = blockIdx.x * 64 + threadIdx.x;
    float v = (x[i] + x[i + 1] + x[i + 2]) / 3;  // OTHER
    to[i] = v;  // BUG: global-race
    if (BUGGY) y[i] = 0;
}

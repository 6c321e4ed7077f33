// Rows are addressed by the picture's width instead of its pitch, and the last ones by the pitch of another.
// launch: grid=2,3 block=16,16 args=f4[40,32]:rand,out:f4[40,32],i4=32,i4=40,i4=48
extern "C" __global__ void pitch_mistake(const float *x, float *y, int w, int h, int pitch) {
    int i = blockIdx.x * 16 + threadIdx.x, j = blockIdx.y * 16 + threadIdx.y;
    if (i < w && j < h) y[j * w + i] = x[j * (BUGGY ? pitch : w) + i];  // BUG: out-of-bounds
}

// The rows of a shared table are summed up to their padded length.
// launch: grid=1 block=32 args=f4[256]:rand,out:f4[32]
struct Row { float v[8]; float weight; };
extern "C" __global__ void pad_row_sum(const float *x, float *y) {
    __shared__ Row rows[32];
    int t = threadIdx.x;
    for (int k = 0; k < 8; k++) rows[t].v[k] = x[8 * t + k];
    if (!BUGGY) rows[t].weight = 1;
    __syncthreads();
    Row mine = rows[31 - t];  // BUG: uninitialised-read
    float sum = 0;
    for (int k = 0; k < 8; k++) sum += mine.v[k];
    y[t] = sum * mine.weight;  // BUG: uninitialised-read
}

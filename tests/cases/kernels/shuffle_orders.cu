// A shuffle makes all lanes meet, so what they wrote before it is there behind it.
// launch: grid=1 block=32 args=f4[32]:rand,out:f4[32]
extern "C" __global__ void shuffle_orders(const float *x, float *y) {
    __shared__ float s[32];
    float mine = x[threadIdx.x];
    s[threadIdx.x] = mine;  // OTHER
    float next = BUGGY ? mine : __shfl_xor_sync(0xffffffffu, mine, 1);
    y[threadIdx.x] = next + s[(threadIdx.x + 5) % 32];  // BUG: warp-race
}

// One warp writes whole words while another writes the last byte of each: one byte of four has two writers.
// launch: grid=1 block=64 args=out:u4[32]
extern "C" __global__ void byte_in_word(unsigned *y) {
    __shared__ unsigned word[32];
    int lane = threadIdx.x % 32;
    unsigned char *byte = reinterpret_cast<unsigned char *>(word + lane);
    if (threadIdx.x < 32) {
        if (BUGGY) {
            word[lane] = lane;  // OTHER
        } else {
            *reinterpret_cast<unsigned short *>(byte) = lane;
            byte[2] = 0;
        }
    } else {
        byte[3] = lane + 1;  // BUG: shared-race
    }
    __syncthreads();
    if (threadIdx.x < 32) y[lane] = word[lane];
}

// A producer warp fills a stage again without having waited until the consumers are done with it.
// launch: grid=1 block=64 args=f4[256]:rand,f4[32]
#include <cuda/barrier>
extern "C" __global__ void producer_consumer_barrier(const float *x, float *y) {
    using barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ alignas(barrier) char room[2 * sizeof(barrier)];
    barrier *full = reinterpret_cast<barrier *>(room), *empty = full + 1;
    __shared__ float stage[32];
    int t = threadIdx.x;
    if (t == 0) {
        init(full, 64);
        init(empty, 64);
    }
    __syncthreads();
    if (t < 32) {
        for (int k = 0; k < 8; k++) {
            if (!BUGGY) empty->arrive_and_wait();
            stage[t] = x[32 * k + t];  // BUG: shared-race
            if (BUGGY) empty->arrive_and_wait();
            (void)full->arrive();
        }
    } else {
        float sum = 0;
        (void)empty->arrive();
        for (int k = 0; k < 8; k++) {
            full->arrive_and_wait();
            sum += stage[63 - t];  // OTHER
            if (k < 7) (void)empty->arrive();
        }
        y[t - 32] = sum;
    }
}

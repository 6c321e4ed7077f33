// Places in a queue are given out by an atomic counter; without one two threads fill the same slot.
// launch: grid=2 block=64 args=i4[128]:perm,i4[1],i4[128]
extern "C" __global__ void queue_slots(const int *x, int *size, int *queue) {
    int v = x[blockIdx.x * 64 + threadIdx.x];
    if (v % 2 == 0) {
        int place = BUGGY ? v / 4 : atomicAdd(size, 1);
        queue[place] = v;  // BUG: global-race
    }
}

// Open addressing: keys by compare and swap, values by plain stores, and equal keys meet in one slot.
// launch: grid=2 block=64 args=i4[128]:rand,i4[512]:zero,i4[512]:zero
extern "C" __global__ void hash_insert(const int *keys, int *table, int *values) {
    int i = blockIdx.x * 64 + threadIdx.x;
    int key = (keys[i] & 31) + 1, slot = (key * 37) & 511;
    while (true) {
        int was = atomicCAS(&table[slot], 0, key);
        if (was == 0 || was == key) break;
        slot = (slot + 1) & 511;
    }
    if (BUGGY) values[slot] = i;  // BUG: global-race
    else atomicMax(&values[slot], i);
}

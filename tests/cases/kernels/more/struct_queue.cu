// A struct is published by its index, its second half after it.
// launch: grid=2 block=1 args=i4[4],i4[1],i4[2]
struct Item { int key, value; };
extern "C" __global__ void struct_queue(int *raw, int *ready, int *y) {
    Item *items = reinterpret_cast<Item *>(raw);
    if (blockIdx.x == 0) {
        items[0].key = 5;
        if (!BUGGY) items[0].value = 7;
        __threadfence();
        atomicExch(ready, 1);
        if (BUGGY) items[0].value = 7;  // BUG: global-race
    } else {
        while (atomicAdd(ready, 0) == 0) {}
        __threadfence();
        y[0] = items[0].key;
        y[1] = items[0].value;  // OTHER
    }
}

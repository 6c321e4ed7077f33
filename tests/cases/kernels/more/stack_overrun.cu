// A depth-first walk keeps a stack of four places, and the tree is deeper.
// launch: grid=1 block=32 args=i4[128]:arange,out:i4[32]
extern "C" __global__ void stack_overrun(const int *x, int *y) {
    int stack[BUGGY ? 4 : 8], top = 0, sum = 0;
    stack[top++] = 1;
    while (top > 0) {
        int node = stack[--top];  // BUG: out-of-bounds
        sum += x[node];
        if (node < 16) { stack[top++] = 2 * node + 1; stack[top++] = 2 * node; }  // BUG: out-of-bounds
    }
    y[threadIdx.x] = sum;
}

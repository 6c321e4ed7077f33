// A 3-D grid whose z index is multiplied by the wrong extent, so planes overlap.
// launch: grid=2,2,4 block=4,4,1 args=i4[256]:arange,i4[256],i4=8,i4=8
extern "C" __global__ void three_d_index(const int *x, int *y, int w, int h) {
    int i = blockIdx.x * 4 + threadIdx.x, j = blockIdx.y * 4 + threadIdx.y, k = blockIdx.z;
    int at = (BUGGY ? k * w : k * w * h) + j * w + i;
    y[at] = x[at] + k;  // BUG: global-race
}

// A square matrix is transposed in place by pairs; if both threads of a pair swap, they undo or mix each other.
// launch: grid=2,2 block=8,8 args=f4[16,16]:rand
extern "C" __global__ void matrix_in_place(float *a) {
    int column = blockIdx.x * 8 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    if (BUGGY ? row != column : row > column) {
        float above = a[16 * column + row], below = a[16 * row + column];  // OTHER
        a[16 * row + column] = above;  // BUG: global-race
        a[16 * column + row] = below;  // OTHER
    }
}

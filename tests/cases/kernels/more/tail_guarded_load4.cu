// Vectors of four where they are whole and single elements at the end.
// launch: grid=1 block=32 args=all:f4[101]:rand,out:f4[101],i4=101
extern "C" __global__ void tail_guarded_load4(const float *x, float *y, int n) {
    for (int i = 4 * threadIdx.x; i < n; i += 128) {
        if (BUGGY || i + 4 <= n) {
            float4 v = *(const float4 *)(x + i);  // BUG: out-of-bounds
            v.x += 1; v.y += 1; v.z += 1; v.w += 1;
            *(float4 *)(y + i) = v;  // BUG: out-of-bounds
        } else {
            for (int k = i; k < n; k++) y[k] = x[k] + 1;
        }
    }
}

// The kernel uses two arrays of dynamic shared memory and the launch has room for one; more than is used is fine.
// launch buggy: grid=1 block=64 shared=256 args=f4[64]:rand,out:f4[64]
// launch clean: grid=1 block=64 shared=1024 args=f4[64]:rand,out:f4[64]
extern "C" __global__ void dynamic_shared_size(const float *x, float *y) {
    extern __shared__ float s[];
    float *second = s + blockDim.x;
    int t = threadIdx.x;
    s[t] = x[t];
    second[t] = x[t] * x[t];  // BUG: out-of-bounds
    __syncthreads();
    y[t] = s[63 - t] + second[63 - t];  // BUG: out-of-bounds
}

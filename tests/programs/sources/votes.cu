// Votes of before Volta: of the lanes that are there.
#include <cstdio>

__global__ void votes(int *out)
{
    if (threadIdx.x < 20) out[threadIdx.x] = __popc(__ballot(threadIdx.x & 1)) + 100 * __any(threadIdx.x == 3) + 1000 * __all(threadIdx.x < 20);
}

int main()
{
    int *out, found[20];
    cudaMalloc(&out, sizeof found);
    votes<<<1, 32>>>(out);
    cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost);
    printf("%d %d\n", found[0], found[19]);
}

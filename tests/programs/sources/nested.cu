// Kernels that launch kernels: what each was given, in which order, and what a launch cannot be.
#include <cstdio>

struct Given {
    char letter;
    double number;
    short more[5];
};

__device__ int order[64], count;
__device__ int copied[8];

__global__ void note(int what) { order[count++] = what; }

__global__ void leaf(Given given, int *sums, int depth)
{
    atomicAdd(&sums[depth], int(given.number) * given.more[4] + (given.letter - 'a') + threadIdx.x);
}

__global__ void tree(int *sums, int depth)
{
    Given given = {'b', depth + 0.5, {0, 0, 0, 0, 3}};
    leaf<<<1, 4>>>(given, sums, depth);
    if (depth < 2) tree<<<2, blockDim.x>>>(sums, depth + 1);
}

__global__ void parent()
{
    note<<<1, 1, 0, cudaStreamTailLaunch>>>(9);
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    note<<<1, 1, 0, stream>>>(1);
    note<<<1, 1, 0, cudaStreamFireAndForget>>>(2);
    cudaStreamDestroy(stream);
    cudaMemsetAsync(copied, 7, 2 * sizeof(int), 0);
    cudaMemcpyAsync(copied + 2, copied + 1, sizeof(int), cudaMemcpyDeviceToDevice, 0);
    int device, processors;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    note<<<1, 1>>>(processors);
    printf("parent %s\n", cudaGetErrorString(cudaGetLastError()));
}

template <class T> void show(const char *what, T *values, int number)
{
    printf("%s", what);
    for (int i = 0; i < number; i++) printf(" %d", int(values[i]));
    printf("\n");
}

int main()
{
    int *sums, found[8];
    cudaMallocManaged(&sums, 3 * sizeof(int));
    sums[0] = sums[1] = sums[2] = 0;
    tree<<<1, 2>>>(sums, 0);
    cudaDeviceSynchronize();
    show("sums", sums, 3);

    parent<<<1, 1>>>();
    cudaDeviceSynchronize();
    cudaMemcpyFromSymbol(found, order, 4 * sizeof(int));
    show("order", found, 4);
    cudaMemcpyFromSymbol(found, copied, 4 * sizeof(int));
    show("copied", found, 4);
    return cudaGetLastError();
}

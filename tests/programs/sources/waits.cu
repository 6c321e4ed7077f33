// Kernels that wait for what the host does after their launch: in mapped memory, and in another stream.
#include <cstdio>

__global__ void answer(volatile int *asked, int *answered) {
    while (*asked == 0) { }
    *answered = *asked + 1;
}

__global__ void add_to(int *what) { *what += 100; }

int main() {
    volatile int *asked;
    int *answered, *flag, *result, *here, one = 10;
    cudaHostAlloc((void **)&asked, sizeof(int), cudaHostAllocMapped);
    cudaMallocManaged(&answered, sizeof(int));
    cudaMallocHost(&here, sizeof(int));
    *here = 0;
    *asked = 0;
    answer<<<1, 1>>>(asked, answered);
    printf("%s", cudaGetErrorName(cudaStreamQuery(0)));
    *asked = 41;
    cudaDeviceSynchronize();
    printf(" %d %s\n", *answered, cudaGetErrorName(cudaStreamQuery(0)));

    cudaStream_t waiting, other;
    cudaEvent_t done, before;
    cudaStreamCreateWithFlags(&waiting, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    cudaEventCreate(&done);
    cudaEventCreate(&before);
    cudaMalloc(&flag, sizeof(int));
    cudaMalloc(&result, 2 * sizeof(int));
    cudaMemset(flag, 0, sizeof(int));
    cudaEventRecord(before, waiting);
    answer<<<1, 1, 0, waiting>>>(flag, result);
    cudaMemcpyAsync(here, result, sizeof(int), cudaMemcpyDeviceToHost, waiting);
    cudaEventRecord(done, waiting);
    cudaStreamSynchronize(other);
    cudaEventSynchronize(before);
    printf("%s %d", cudaGetErrorName(cudaEventQuery(done)), *here);
    cudaMemcpyAsync(flag, &one, sizeof(int), cudaMemcpyHostToDevice, other);
    cudaEventSynchronize(done);
    float ms = -1;
    cudaEventElapsedTime(&ms, before, done);
    printf(" %d %s %d\n", *here, cudaGetErrorName(cudaEventQuery(done)), ms > 0);

    cudaMemset(flag, 0, sizeof(int));
    answer<<<1, 1, 0, waiting>>>(flag, result);
    int read = 7; // at once, though the copy is made later
    cudaMemcpyAsync(result + 1, &read, sizeof(int), cudaMemcpyHostToDevice, waiting);
    read = 8;
    add_to<<<1, 1, 0, other>>>(result + 1); // before the copy, which is behind the kernel that waits
    cudaMemcpy(flag, &one, sizeof(int), cudaMemcpyHostToDevice); // the default stream waits for no such stream
    cudaMemcpyAsync(here, result, sizeof(int), cudaMemcpyDeviceToHost, waiting);
    cudaStreamSynchronize(waiting);
    cudaMemcpy(&read, result + 1, sizeof(int), cudaMemcpyDeviceToHost);
    printf("%d %d\n", *here, read);
}

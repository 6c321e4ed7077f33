// Kernels of two streams that run at once: one waits for what the other writes.
#include <cstdio>
#include <cstring>

__global__ void consume(volatile int *flag, volatile int *data, int *sum) {
    if (threadIdx.x == 0)
        while (*flag != (int)gridDim.x) { }
    __syncthreads();
    __threadfence();
    atomicAdd(sum, data[threadIdx.x]);
}

__global__ void produce(int *flag, volatile int *data) {
    data[threadIdx.x] = threadIdx.x;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(flag, 1);
}

// The same kernel on both sides.
__global__ void play(volatile int *ball, int me, int rounds) {
    for (int k = 0; k < rounds; k++) {
        while (*ball % 2 != me) { }
        *ball = *ball + 1;
        __threadfence();
    }
}

__global__ void wait(volatile int *flag) {
    while (*flag == 0) { }
}

__global__ void set(int *flag) { *flag = 1; }

int main(int argc, char **argv) {
    cudaStream_t one, two;
    cudaStreamCreate(&one);
    cudaStreamCreate(&two);
    int *memory;
    cudaMalloc(&memory, 4096 * sizeof(int));
    cudaMemset(memory, 0, 4096 * sizeof(int));
    if (argc > 1 && !strcmp(argv[1], "never")) {
        wait<<<1, 1, 0, one>>>(memory);
        printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
        return 0;
    }
    if (argc > 1 && !strcmp(argv[1], "behind")) { // set is behind wait in the same stream
        wait<<<4, 32, 0, one>>>(memory);
        set<<<1, 1, 0, one>>>(memory);
        printf("%s\n", cudaGetErrorName(cudaStreamSynchronize(one)));
        return 0;
    }
    int sum = 0, ball = 0;
    consume<<<8, 128, 0, one>>>(memory, memory + 64, memory + 1);
    produce<<<8, 128, 0, two>>>(memory, memory + 64);
    cudaMemcpyAsync(&sum, memory + 1, sizeof(int), cudaMemcpyDeviceToHost, one);
    cudaStreamSynchronize(one);
    printf("%d %s\n", sum, cudaGetErrorName(cudaDeviceSynchronize()));

    play<<<1, 1, 0, one>>>(memory + 2, 1, 100);
    play<<<1, 1, 0, two>>>(memory + 2, 0, 100);
    cudaMemcpyAsync(&ball, memory + 2, sizeof(int), cudaMemcpyDeviceToHost, one);
    printf("%s %d\n", cudaGetErrorName(cudaDeviceSynchronize()), ball);

    // An event of a third stream comes when its own work has ended, not when all has.
    cudaStream_t three;
    cudaEvent_t done;
    cudaStreamCreateWithFlags(&three, cudaStreamNonBlocking);
    cudaEventCreate(&done);
    wait<<<1, 32, 0, one>>>(memory + 3);
    wait<<<1, 32, 0, two>>>(memory + 4);
    cudaEventRecord(done, two);
    cudaStreamWaitEvent(three, done, 0); // three goes on behind two
    set<<<1, 1, 0, three>>>(memory + 3);
    printf("%s", cudaGetErrorName(cudaStreamQuery(three)));
    int yes = 1;
    cudaStream_t four;
    cudaStreamCreateWithFlags(&four, cudaStreamNonBlocking);
    cudaMemcpyAsync(memory + 4, &yes, sizeof(int), cudaMemcpyHostToDevice, four);
    cudaEventSynchronize(done);
    cudaStreamSynchronize(one);
    printf(" %s", cudaGetErrorName(cudaStreamQuery(three)));

    cudaGraph_t graph;
    cudaGraphExec_t launched;
    wait<<<1, 32, 0, one>>>(memory + 5);
    cudaStreamBeginCapture(two, cudaStreamCaptureModeGlobal);
    set<<<1, 1, 0, two>>>(memory + 5);
    cudaStreamEndCapture(two, &graph);
    cudaGraphInstantiate(&launched, graph, 0);
    cudaGraphLaunch(launched, two);
    printf(" %s\n", cudaGetErrorName(cudaStreamSynchronize(one)));
}

// Kernels of few blocks run while the host goes on, in order in their stream and behind events.
#include <cstdio>

__global__ void step(unsigned *word, unsigned by, int rounds) {
    unsigned x = *word;
    for (int k = 0; k < rounds; k++) x = x * 1664525u + by;
    *word = x;
}

__global__ void leave(int *p, int rounds) {
    int x = 0;
    for (int k = 0; k < rounds; k++) x = x * 3 + k;
    p[1 << 28] = x;
}

static const char *name(cudaError_t error) { return cudaGetErrorName(error); }
static void say(void *word) { printf("host function: %d\n", *(int *)word); }
static void tell(cudaStream_t, cudaError_t error, void *) { printf("callback: %s\n", name(error)); }
static const int LONG = 200000000, SHORT = 10;
static unsigned wanted(unsigned x, unsigned by, int rounds) {
    for (int k = 0; k < rounds; k++) x = x * 1664525u + by;
    return x;
}

int main() {
    unsigned *words, *pinned, found = 0;
    int one = 1, two = 2;
    cudaStream_t a, b, apart;
    cudaEvent_t done;
    cudaMalloc(&words, 64);
    cudaMemset(words, 0, 64);
    cudaMallocHost(&pinned, 64);
    cudaStreamCreate(&a);
    cudaStreamCreate(&b);
    cudaStreamCreateWithFlags(&apart, cudaStreamNonBlocking);
    cudaEventCreate(&done);

    step<<<1, 1, 0, a>>>(words, 1, LONG);
    cudaLaunchHostFunc(a, say, &one);
    cudaEventRecord(done, a);
    printf("%s %s", name(cudaStreamQuery(a)), name(cudaEventQuery(done)));
    step<<<1, 1, 0, apart>>>(words + 1, 1, SHORT); // behind nothing
    printf(" %s", name(cudaStreamSynchronize(apart)));
    printf(" %s\n", name(cudaStreamQuery(a))); // so both have run at once
    cudaStreamWaitEvent(b, done, 0);
    step<<<1, 1, 0, b>>>(words, 2, SHORT); // behind a's by an event
    step<<<1, 1>>>(words, 3, LONG);        // behind both, in the default stream
    step<<<1, 1, 0, a>>>(words, 4, SHORT); // behind that
    cudaMemcpyAsync(pinned, words, 4, cudaMemcpyDeviceToHost, a);
    unsigned all = wanted(wanted(wanted(wanted(0, 1, LONG), 2, SHORT), 3, LONG), 4, SHORT);
    cudaStreamSynchronize(a);
    printf("%d\n", *pinned == all);

    cudaGetLastError();
    leave<<<1, 1, 0, a>>>((int *)words, LONG);
    printf("launch: %s\n", name(cudaGetLastError()));
    step<<<1, 1, 0, a>>>(words, 4, SHORT);
    cudaLaunchHostFunc(a, say, &two); // never called
    cudaStreamAddCallback(a, tell, nullptr, 0);
    printf("synchronize: %s\n", name(cudaStreamSynchronize(a)));
    printf("then: %s\n", name(cudaMemcpy(&found, words, 4, cudaMemcpyDeviceToHost)));
}

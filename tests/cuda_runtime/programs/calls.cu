// Calls of all subjects that need no kernel of their own: memory, streams, events, the device, errors.
#include <cstring>
#include <vector>

#include "check.h"

__global__ void increment(int *data) { ++data[threadIdx.x]; }
__device__ int table[4] = {1, 2, 3, 4};

static void memory() {
    unsigned char *rows;
    size_t pitch = 0;
    OK(cudaMallocPitch(&rows, &pitch, 100, 5));
    CHECK(pitch % 512 == 0 && pitch >= 100);
    OK(cudaMemset(rows, 1, pitch * 5));
    OK(cudaMemset2D(rows + 10, pitch, 7, 20, 4));
    std::vector<unsigned char> host(pitch * 5);
    OK(cudaMemcpy(host.data(), rows, host.size(), cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < host.size(); ++i) {
        size_t row = i / pitch, column = i % pitch;
        CHECK(host[i] == (row < 4 && column >= 10 && column < 30 ? 7 : 1));
    }
    CHECK(cudaMemset2D(rows, 50, 7, 100, 4) == cudaErrorInvalidValue);
    cudaPitchedPtr volume;
    OK(cudaMalloc3D(&volume, make_cudaExtent(64, 3, 2)));
    CHECK(volume.xsize == 64 && volume.ysize == 3);
    OK(cudaMemset3D(volume, 9, make_cudaExtent(64, 2, 2)));
    unsigned char last = 0;
    OK(cudaMemcpy(&last, (char *)volume.ptr + volume.pitch * 4 + 63, 1, cudaMemcpyDeviceToHost));
    CHECK(last == 9);
    OK(cudaFree(rows));
    CHECK(cudaFree(rows) == cudaErrorInvalidValue);
    CHECK(cudaMemcpy(volume.ptr, host.data(), 4, (cudaMemcpyKind)9) == cudaErrorInvalidMemcpyDirection);
    OK(cudaFree(nullptr));
    void *huge;
    CHECK(cudaMalloc(&huge, (size_t)1 << 50) == cudaErrorMemoryAllocation);
    size_t available, total;
    OK(cudaMemGetInfo(&available, &total));
    CHECK(available <= total);
}

static void pinned() {
    int *data, *seen, own[32] = {};
    unsigned flags = 0;
    OK(cudaHostAlloc(&data, 128, cudaHostAllocMapped | cudaHostAllocPortable));
    OK(cudaHostGetFlags(&flags, data));
    CHECK(flags == (cudaHostAllocMapped | cudaHostAllocPortable));
    memset(data, 0, 128);
    OK(cudaHostGetDevicePointer(&seen, data, 0));
    increment<<<1, 32>>>(seen);
    OK(cudaDeviceSynchronize());
    CHECK(data[31] == 1);
    cudaPointerAttributes attributes;
    OK(cudaPointerGetAttributes(&attributes, data));
    CHECK(attributes.type == cudaMemoryTypeHost && attributes.hostPointer == data);
    OK(cudaPointerGetAttributes(&attributes, own));
    CHECK(attributes.type == cudaMemoryTypeUnregistered);
    OK(cudaFreeHost(data));
    OK(cudaHostRegister(own, sizeof own, cudaHostRegisterMapped));
    CHECK(cudaHostRegister(own, sizeof own, 0) == cudaErrorHostMemoryAlreadyRegistered);
    OK(cudaHostGetDevicePointer(&seen, own, 0));
    increment<<<1, 32>>>(seen);
    OK(cudaDeviceSynchronize());
    CHECK(own[7] == 1);
    OK(cudaHostUnregister(own));
    CHECK(cudaHostUnregister(own) == cudaErrorHostMemoryNotRegistered);
    OK(cudaMallocManaged(&data, 128));
    OK(cudaMemAdvise(data, 128, cudaMemAdviseSetReadMostly, {cudaMemLocationTypeDevice, 0}));
    OK(cudaMemPrefetchAsync(data, 128, {cudaMemLocationTypeDevice, 0}, 0, 0));
    data[3] = 4;
    increment<<<1, 32>>>(data);
    OK(cudaDeviceSynchronize());
    CHECK(data[3] == 5);
    OK(cudaFree(data));
}

static void streams() {
    int least, greatest, priority, calls = 0;
    OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    CHECK(least == 0 && greatest == -5);
    cudaStream_t stream;
    OK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, -2));
    OK(cudaStreamGetPriority(stream, &priority));
    unsigned flags;
    OK(cudaStreamGetFlags(stream, &flags));
    CHECK(priority == -2 && flags == cudaStreamNonBlocking);
    int *data, host[32];
    OK(cudaMallocAsync(&data, 128, stream));
    OK(cudaMemsetAsync(data, 0, 128, stream));
    increment<<<1, 32, 0, stream>>>(data);
    OK(cudaMemcpyAsync(host, data, 128, cudaMemcpyDeviceToHost, stream));
    OK(cudaFreeAsync(data, stream));
    OK(cudaLaunchHostFunc(stream, [](void *data) { ++*(int *)data; }, &calls));
    OK(cudaStreamAddCallback(
        stream,
        [](cudaStream_t, cudaError_t status, void *data) { *(int *)data += status == cudaSuccess ? 10 : 100; },
        &calls, 0));
    OK(cudaStreamSynchronize(stream));
    OK(cudaStreamQuery(stream));
    CHECK(host[31] == 1 && calls == 11);
    cudaEvent_t start, stop, untimed;
    float milliseconds = -1;
    OK(cudaEventCreate(&start));
    OK(cudaEventCreate(&stop));
    OK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    OK(cudaEventRecord(start, stream));
    CHECK(cudaEventElapsedTime(&milliseconds, start, stop) == cudaErrorInvalidResourceHandle);
    OK(cudaEventRecord(stop, stream));
    OK(cudaEventRecord(untimed, stream));
    OK(cudaStreamWaitEvent(cudaStreamPerThread, stop, 0));
    OK(cudaEventSynchronize(stop));
    OK(cudaEventElapsedTime(&milliseconds, start, stop));
    CHECK(milliseconds >= 0 && milliseconds < 10000);
    CHECK(cudaEventElapsedTime(&milliseconds, start, untimed) == cudaErrorInvalidResourceHandle);
    cudaMemPool_t pool;
    unsigned long long threshold = 1 << 20, found = 0;
    OK(cudaDeviceGetDefaultMemPool(&pool, 0));
    OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &found));
    CHECK(found == threshold);
    OK(cudaStreamDestroy(stream));
}

// What NVIDIA's runtime leaves undefined: a GPU's process may end here.
static void misuse() {
    int *freed, host = 0;
    OK(cudaMalloc(&freed, 4));
    OK(cudaFree(freed));
    CHECK(cudaMemcpy(freed, &host, 4, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamDestroy(stream));
    CHECK(cudaStreamDestroy(stream) == cudaErrorInvalidResourceHandle);
}

static void device() {
    int count = 0, number = -1, value = 0, version = 0;
    OK(cudaGetDeviceCount(&count));
    OK(cudaGetDevice(&number));
    CHECK(count == 1 && number == 0);
    OK(cudaSetDevice(0));
    CHECK(cudaSetDevice(1) == cudaErrorInvalidDevice);
    cudaDeviceProp properties;
    OK(cudaGetDeviceProperties(&properties, 0));
    CHECK(properties.major == 9 && properties.multiProcessorCount == 132 && properties.warpSize == 32);
    CHECK(properties.maxThreadsDim[2] == 64 && properties.sharedMemPerBlockOptin == 232448);
    CHECK(strcmp(properties.name, "NVIDIA H100 80GB HBM3") == 0);
    OK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlock, 0));
    CHECK(value == 49152);
    OK(cudaRuntimeGetVersion(&version));
    CHECK(version == 13000);
    char bus[32];
    OK(cudaDeviceGetPCIBusId(bus, sizeof bus, 0));
    OK(cudaDeviceGetByPCIBusId(&number, bus));
    OK(cudaDeviceCanAccessPeer(&value, 0, 0));
    CHECK(value == 0);
    int *address;
    size_t size;
    OK(cudaGetSymbolAddress((void **)&address, table));
    OK(cudaGetSymbolSize(&size, table));
    CHECK(size == 16);
    int values[2] = {7, 8}, back[4];
    OK(cudaMemcpyToSymbol(table, values, 8, 4));
    OK(cudaMemcpyFromSymbol(back, table, 16));
    CHECK(back[0] == 1 && back[1] == 7 && back[2] == 8 && back[3] == 4);
    CHECK(cudaGetSymbolAddress((void **)&address, values) == cudaErrorInvalidSymbol);
}

static void errors() {
    cudaGetLastError();
    CHECK(strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue") == 0);
    CHECK(strcmp(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory") == 0);
    CHECK(strcmp(cudaGetErrorName((cudaError_t)12345), "unrecognized error code") == 0);
    cudaLogIterator iterator;
    CHECK(cudaLogsCurrent(&iterator, 0) == cudaErrorNotSupported);
    CHECK(cudaLogsCurrent(&iterator, 0) == cudaErrorNotSupported);
    CHECK(cudaGetLastError() == cudaErrorNotSupported);
    int host = 0;
    increment<<<1, 0>>>(&host);
    CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
    int *place;
    CHECK(cudaMalloc((void **)&place, 4) == cudaSuccess);
    CHECK(cudaMemcpy(place, nullptr, 4, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    CHECK(cudaMemcpy(nullptr, place, 4, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
    CHECK(cudaMemcpy2D(nullptr, 4, place, 4, 4, 1, cudaMemcpyDefault) == cudaErrorInvalidValue);
    CHECK(cudaFree(place) == cudaSuccess && cudaGetLastError() == cudaErrorInvalidValue);
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, (void *)errors) == cudaErrorInvalidDeviceFunction);
}

int main(int count, char **) {
    memory();
    pinned();
    streams();
    device();
    errors();
    if (count > 1) misuse();
    return 0;
}

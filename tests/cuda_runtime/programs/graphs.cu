// Graphs: captured from two streams, made node by node, changed, copied, with memory and conditions of their own.
#include <atomic>
#include <chrono>
#include <vector>

#include "check.h"

__constant__ int factor;
__global__ void add(int *data, int value) { data[threadIdx.x] += value; }
__global__ void scale(int *data) { data[threadIdx.x] *= factor; }

static void count(void *data) { ++*(int *)data; }
static void destroy(void *data) { *(std::atomic<int> *)data = -1; }

const int COUNT = 32;
const size_t BYTES = COUNT * sizeof(int);

static std::vector<int> read(const int *data) {
    std::vector<int> found(COUNT);
    OK(cudaMemcpy(found.data(), data, BYTES, cudaMemcpyDeviceToHost));
    return found;
}

static void captured(int *data) {
    cudaStream_t one, two;
    cudaEvent_t forked, joined;
    OK(cudaStreamCreate(&one));
    OK(cudaStreamCreate(&two));
    OK(cudaEventCreate(&forked));
    OK(cudaEventCreate(&joined));
    int calls = 0;
    OK(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
    OK(cudaMemsetAsync(data, 0, BYTES, one));
    OK(cudaEventRecord(forked, one));
    OK(cudaStreamWaitEvent(two, forked, 0));
    add<<<1, COUNT, 0, one>>>(data, 3);
    OK(cudaLaunchHostFunc(two, count, &calls));
    OK(cudaEventRecord(joined, two));
    OK(cudaStreamWaitEvent(one, joined, 0));
    add<<<1, COUNT, 0, one>>>(data, 4);
    cudaStreamCaptureStatus status;
    OK(cudaStreamIsCapturing(two, &status));
    CHECK(status == cudaStreamCaptureStatusActive);
    cudaGraph_t graph;
    OK(cudaStreamEndCapture(one, &graph));
    size_t nodes = 0, edges = 0, roots = 0;
    OK(cudaGraphGetNodes(graph, nullptr, &nodes));
    OK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
    OK(cudaGraphGetRootNodes(graph, nullptr, &roots));
    CHECK(nodes == 4 && edges == 4 && roots == 1);
    cudaGraphExec_t executable;
    OK(cudaGraphInstantiate(&executable, graph, 0));
    for (int k = 0; k < 3; ++k) OK(cudaGraphLaunch(executable, one));
    OK(cudaStreamSynchronize(one));
    CHECK(read(data)[31] == 7 && calls == 3);
    OK(cudaGraphExecDestroy(executable));
    OK(cudaGraphDestroy(graph));
}

// What cannot be captured makes the capture invalid, and its end too.
static void invalidated(int *data) {
    cudaStream_t stream;
    cudaStreamCaptureStatus status;
    cudaGraph_t graph;
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    add<<<1, COUNT, 0, stream>>>(data, 3);
    CHECK(cudaStreamSynchronize(stream) == cudaErrorStreamCaptureUnsupported);
    OK(cudaStreamIsCapturing(stream, &status));
    CHECK(status == cudaStreamCaptureStatusInvalidated);
    CHECK(cudaMemsetAsync(data, 0, BYTES, stream) == cudaErrorStreamCaptureInvalidated);
    CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated && graph == nullptr);
    cudaGetLastError();
    OK(cudaMemsetAsync(data, 0, BYTES, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaStreamDestroy(stream));
}

static void made(int *data) {
    cudaGraph_t graph, clone;
    cudaGraphNode_t first, second, third, fourth, fifth, found;
    OK(cudaGraphCreate(&graph, 0));
    int host[COUNT], three = 3, calls = 0;
    for (int &one : host) one = 5;
    cudaMemsetParams fill = {};
    fill.dst = data;
    fill.elementSize = 4;
    fill.width = COUNT;
    fill.height = 1;
    fill.value = 1000;
    OK(cudaGraphAddMemsetNode(&first, graph, nullptr, 0, &fill));
    OK(cudaGraphAddMemcpyNode1D(&second, graph, &first, 1, data, host, BYTES / 2, cudaMemcpyHostToDevice));
    OK(cudaGraphAddMemcpyNodeToSymbol(&third, graph, nullptr, 0, factor, &three, 4, 0, cudaMemcpyHostToDevice));
    cudaKernelNodeParams kernel = {};
    int seven = 7;
    void *arguments[] = {&data, &seven};
    kernel.func = (void *)add;
    kernel.gridDim = 1;
    kernel.blockDim = COUNT;
    kernel.kernelParams = arguments;
    cudaGraphNode_t both[] = {second, third};
    OK(cudaGraphAddKernelNode(&fourth, graph, both, 2, &kernel));
    seven = 0;
    cudaKernelNodeParams scaling = kernel;
    scaling.func = (void *)scale;
    OK(cudaGraphAddKernelNode(&fifth, graph, nullptr, 0, &scaling));
    OK(cudaGraphAddDependencies(graph, &fourth, &fifth, nullptr, 1));
    cudaHostNodeParams call = {count, &calls};
    OK(cudaGraphAddHostNode(&found, graph, &fifth, 1, &call));
    cudaGraphExec_t executable;
    OK(cudaGraphInstantiate(&executable, graph, 0));
    OK(cudaGraphLaunch(executable, 0));
    std::vector<int> values = read(data);
    CHECK(values[0] == 36 && values[31] == 3021 && calls == 1);

    cudaKernelNodeParams given = {};
    OK(cudaGraphKernelNodeGetParams(fourth, &given));
    CHECK(given.blockDim.x == COUNT && *(int *)given.kernelParams[1] == 7 && given.func == kernel.func);
    int nine = 9;
    arguments[1] = &nine;
    OK(cudaGraphExecKernelNodeSetParams(executable, fourth, &kernel));
    OK(cudaGraphNodeSetEnabled(executable, first, 0));
    OK(cudaGraphLaunch(executable, 0));
    values = read(data);
    CHECK(values[0] == 42 && values[31] == 9090);

    OK(cudaGraphClone(&clone, graph));
    OK(cudaGraphNodeFindInClone(&found, first, clone));
    cudaGraphNodeType type;
    OK(cudaGraphNodeGetType(found, &type));
    CHECK(type == cudaGraphNodeTypeMemset);
    fill.value = 0;
    OK(cudaGraphMemsetNodeSetParams(found, &fill));
    cudaGraphExecUpdateResultInfo info;
    OK(cudaGraphExecUpdate(executable, clone, &info));
    CHECK(info.result == cudaGraphExecUpdateSuccess);
    OK(cudaGraphLaunch(executable, 0));
    CHECK(read(data)[0] == 36 && read(data)[31] == 27291); // the first node is still switched off
    OK(cudaGraphDestroyNode(found));
    CHECK(cudaGraphExecUpdate(executable, clone, &info) == cudaErrorGraphExecUpdateFailure);
    cudaGetLastError();

    cudaGraph_t parent;
    cudaGraphNode_t child;
    OK(cudaGraphCreate(&parent, 0));
    OK(cudaGraphAddChildGraphNode(&child, parent, nullptr, 0, graph));
    cudaGraphExec_t whole;
    OK(cudaGraphInstantiate(&whole, parent, 0));
    OK(cudaGraphLaunch(whole, 0));
    CHECK(read(data)[31] == 3021);
    static std::atomic<int> kept{1};  // a thread of the runtime's may destroy it, later
    cudaUserObject_t object;
    OK(cudaUserObjectCreate(&object, &kept, destroy, 1, cudaUserObjectNoDestructorSync));
    OK(cudaGraphRetainUserObject(parent, object, 1, cudaGraphUserObjectMove));
    OK(cudaGraphDestroy(parent));
    auto start = std::chrono::steady_clock::now();
    while (kept != -1) CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(10));
}

static void memory() {
    cudaGraph_t graph;
    cudaGraphNode_t allocate, add_to, copy, release;
    OK(cudaGraphCreate(&graph, 0));
    cudaMemAllocNodeParams wanted = {};
    wanted.bytesize = BYTES;
    wanted.poolProps.allocType = cudaMemAllocationTypePinned;
    wanted.poolProps.location.type = cudaMemLocationTypeDevice;
    OK(cudaGraphAddMemAllocNode(&allocate, graph, nullptr, 0, &wanted));
    CHECK(wanted.dptr != nullptr);
    cudaMemsetParams fill = {};
    fill.dst = wanted.dptr;
    fill.elementSize = 1;
    fill.width = BYTES;
    fill.height = 1;
    fill.value = 1;
    int host[COUNT] = {};
    OK(cudaGraphAddMemsetNode(&add_to, graph, &allocate, 1, &fill));
    OK(cudaGraphAddMemcpyNode1D(&copy, graph, &add_to, 1, host, wanted.dptr, BYTES, cudaMemcpyDeviceToHost));
    OK(cudaGraphAddMemFreeNode(&release, graph, &copy, 1, wanted.dptr));
    cudaGraphExec_t executable;
    OK(cudaGraphInstantiate(&executable, graph, 0));
    for (int k = 0; k < 2; ++k) {
        host[5] = 0;
        OK(cudaGraphLaunch(executable, 0));
        OK(cudaStreamSynchronize(0));
        CHECK(host[5] == 0x01010101);
    }
}

__global__ void count_down(int *left, cudaGraphConditionalHandle handle) {
    *left -= 1;
    cudaGraphSetConditional(handle, *left > 0);
}

static void conditional(int *data) {
    cudaGraph_t graph;
    OK(cudaGraphCreate(&graph, 0));
    cudaGraphConditionalHandle handle;
    OK(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
    cudaGraphNodeParams loop = {};
    loop.type = cudaGraphNodeTypeConditional;
    loop.conditional.handle = handle;
    loop.conditional.type = cudaGraphCondTypeWhile;
    loop.conditional.size = 1;
    cudaGraphNode_t node, inner;
    OK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &loop));
    cudaGraph_t body = loop.conditional.phGraph_out[0];
    int *left = data + 1, one = 1;
    void *counting[] = {&left, &handle}, *adding[] = {&data, &one};
    cudaKernelNodeParams kernel = {};
    kernel.func = (void *)add;
    kernel.gridDim = 1;
    kernel.blockDim = 1;
    kernel.kernelParams = adding;
    OK(cudaGraphAddKernelNode(&node, body, nullptr, 0, &kernel));
    kernel.func = (void *)count_down;
    kernel.kernelParams = counting;
    OK(cudaGraphAddKernelNode(&inner, body, &node, 1, &kernel));
    cudaGraphExec_t executable;
    OK(cudaGraphInstantiate(&executable, graph, 0));
    for (int k = 1; k <= 2; ++k) {
        int start[] = {0, 10};
        OK(cudaMemcpy(data, start, sizeof start, cudaMemcpyHostToDevice));
        OK(cudaGraphLaunch(executable, 0));
        CHECK(read(data)[0] == 10 && read(data)[1] == 0);
    }
}

int main() {
    int *data;
    OK(cudaMalloc(&data, BYTES));
    captured(data);
    invalidated(data);
    made(data);
    memory();
    conditional(data);
    return 0;
}

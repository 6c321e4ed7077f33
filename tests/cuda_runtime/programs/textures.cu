// Arrays, copies of planes and boxes, texture and surface objects through the runtime.
#include <cstring>
#include "check.h"

__global__ void sample(cudaTextureObject_t texture, float *out, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x < width) out[y * width + x] = tex2D<float>(texture, (x + 0.5f) / width, (y + 0.5f) / height);
}

__global__ void fetch(cudaTextureObject_t texture, int *out, int n)
{
    const int i = threadIdx.x;
    if (i < n) out[i] = tex1Dfetch<int>(texture, i);
}

__global__ void paint(cudaSurfaceObject_t surface, int width, int height)
{
    const int x = threadIdx.x, y = blockIdx.x;
    uchar4 old;
    surf2Dread(&old, surface, x * 4, y);
    surf2Dwrite(make_uchar4(old.x + 1, old.y, x, y), surface, x * 4, y);
}

__global__ void deep(cudaTextureObject_t texture, float *out)
{
    const int i = threadIdx.x;
    out[i] = tex3D<float>(texture, i % 4, i / 4 % 3, i / 12);
}

static int planes()
{
    const int width = 50, height = 20;
    static float image[20][64], back[20][50];
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) image[y][x] = y * 1000 + x;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    OK(cudaMallocArray(&array, &format, width, height));
    OK(cudaMemcpy2DToArray(array, 0, 0, image, sizeof image[0], width * 4, height, cudaMemcpyHostToDevice));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc how = {};
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeWrap;
    how.filterMode = cudaFilterModeLinear;
    how.readMode = cudaReadModeElementType;
    how.normalizedCoords = 1;
    cudaTextureObject_t texture;
    OK(cudaCreateTextureObject(&texture, &resource, &how, NULL));
    cudaTextureDesc told;
    OK(cudaGetTextureObjectTextureDesc(&told, texture));
    if (memcmp(&told, &how, sizeof how)) return 1;
    float *out;
    size_t pitch;
    OK(cudaMalloc(&out, sizeof back));
    sample<<<dim3(1, height), 64>>>(texture, out, width, height);
    OK(cudaMallocPitch(&out, &pitch, width * 4, height));
    OK(cudaMemcpy2DFromArray(out, pitch, array, 0, 0, width * 4, height, cudaMemcpyDeviceToDevice));
    OK(cudaMemcpy2D(back, width * 4, out, pitch, width * 4, height, cudaMemcpyDeviceToHost));
    for (int y = 0; y < height; ++y)
        if (memcmp(back[y], image[y], width * 4)) return 2;
    cudaExtent extent;
    unsigned flags;
    OK(cudaArrayGetInfo(&format, &extent, &flags, array));
    if (format.x != 32 || format.f != cudaChannelFormatKindFloat || extent.width != width) return 3;
    OK(cudaDestroyTextureObject(texture));
    OK(cudaFreeArray(array));
    return 0;
}

static int filtered()
{
    float texels[4] = {1, 2, 3, 4}, back[4];
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    OK(cudaMallocArray(&array, &format, 2, 2));
    OK(cudaMemcpyToArray(array, 0, 0, texels, sizeof texels, cudaMemcpyHostToDevice));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc how = {};
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    how.filterMode = cudaFilterModePoint;
    how.normalizedCoords = 1;
    cudaTextureObject_t texture;
    OK(cudaCreateTextureObject(&texture, &resource, &how, NULL));
    float *out;
    OK(cudaMalloc(&out, sizeof back));
    sample<<<dim3(1, 2), 32>>>(texture, out, 2, 2);
    OK(cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost));
    return memcmp(back, texels, sizeof back) ? 4 : 0;
}

static int linear()
{
    int numbers[32], back[32], *memory, *out;
    for (int i = 0; i < 32; ++i) numbers[i] = i * i - 7;
    OK(cudaMalloc(&memory, sizeof numbers));
    OK(cudaMalloc(&out, sizeof numbers));
    OK(cudaMemcpy(memory, numbers, sizeof numbers, cudaMemcpyHostToDevice));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = memory;
    resource.res.linear.desc = cudaCreateChannelDesc<int>();
    resource.res.linear.sizeInBytes = 31 * sizeof(int);
    cudaTextureDesc how = {};
    cudaTextureObject_t texture;
    OK(cudaCreateTextureObject(&texture, &resource, &how, NULL));
    fetch<<<1, 32>>>(texture, out, 32);
    OK(cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost));
    const int last = numbers[31];
    numbers[31] = 0;  // beyond the texture
    if (memcmp(back, numbers, sizeof back)) return 5;
    resource.res.linear.sizeInBytes = 40 * sizeof(int);  // more than there is
    OK(cudaCreateTextureObject(&texture, &resource, &how, NULL));
    fetch<<<1, 32>>>(texture, out, 32);
    OK(cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost));
    return memcmp(back, numbers, 31 * sizeof(int)) || back[31] != last ? 5 : 0;
}

static int surfaces()
{
    static uchar4 pixels[8][16], back[8][16];
    for (int i = 0; i < 128; ++i) pixels[i / 16][i % 16] = make_uchar4(i, 2 * i, 0, 0);
    cudaChannelFormatDesc format = cudaCreateChannelDesc<uchar4>();
    cudaArray_t array;
    OK(cudaMallocArray(&array, &format, 16, 8, cudaArraySurfaceLoadStore));
    OK(cudaMemcpy2DToArray(array, 0, 0, pixels, 64, 64, 8, cudaMemcpyHostToDevice));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaSurfaceObject_t surface;
    OK(cudaCreateSurfaceObject(&surface, &resource));
    paint<<<8, 16>>>(surface, 16, 8);
    OK(cudaMemcpy2DFromArray(back, 64, array, 0, 0, 64, 8, cudaMemcpyDeviceToHost));
    for (int y = 0; y < 8; ++y)
        for (int x = 0; x < 16; ++x) {
            const uchar4 is = back[y][x], was = pixels[y][x];
            if (is.x != (unsigned char)(was.x + 1) || is.y != was.y || is.z != x || is.w != y) return 6;
        }
    return 0;
}

static int boxes()
{
    float texels[2][3][4], back[24], *out;
    for (int i = 0; i < 24; ++i) (&texels[0][0][0])[i] = i + 0.25f;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    OK(cudaMalloc3DArray(&array, &format, make_cudaExtent(4, 3, 2)));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(texels, 16, 4, 3);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(4, 3, 2);
    copy.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3D(&copy));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc how = {};
    cudaTextureObject_t texture;
    OK(cudaCreateTextureObject(&texture, &resource, &how, NULL));
    OK(cudaMalloc(&out, sizeof back));
    deep<<<1, 24>>>(texture, out);
    OK(cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost));
    return memcmp(back, texels, sizeof back) ? 7 : 0;
}

int main()
{
    int (*tests[])() = {planes, filtered, linear, surfaces, boxes};
    for (auto test : tests)
        if (int failed = test()) return failed;
    return 0;
}

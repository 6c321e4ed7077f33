// Two numbers are loaded at once, which is possible at even elements only.
extern "C" __global__ void planted(const float *x, float *y)
{
    const float2 *pair = reinterpret_cast<const float2 *>(x + 1);
    y[threadIdx.x] = pair[threadIdx.x].x + pair[threadIdx.x].y;  // PLANTED
}

extern "C" __global__ void sound(const float *x, float *y)
{
    const float2 *pair = reinterpret_cast<const float2 *>(x + 2);
    y[threadIdx.x] = pair[threadIdx.x].x + pair[threadIdx.x].y;
}

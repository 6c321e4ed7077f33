// Two warps come to a barrier; it must not be told of three.
extern "C" __global__ void planted(float *y)
{
    asm volatile("barrier.sync 1, 96;" ::: "memory");  // PLANTED
    y[threadIdx.x] = threadIdx.x;
}

extern "C" __global__ void sound(float *y)
{
    asm volatile("barrier.sync 1, 64;" ::: "memory");
    y[threadIdx.x] = threadIdx.x;
}

// Names of Thrust and CUB that are gone since CUDA 13.
#include <cstdio>
#include <cub/cub.cuh>
#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/transform.h>

struct square : thrust::unary_function<float, float> {
    __host__ __device__ float operator()(float x) const { return x * x; }
};
struct odd : public thrust::unary_function<int, bool> {
    __host__ __device__ bool operator()(int x) const { return x & 1; }
};

__global__ void largest(int *out)
{
    typedef cub::BlockReduce<int, 64> Reduce;
    __shared__ typename Reduce::TempStorage space;
    int found = Reduce(space).Reduce((int)threadIdx.x * 7 % 64, cub::Max());
    if (threadIdx.x == 0) *out = found;
}

int main()
{
    thrust::device_vector<float> x(10, 3.f);
    thrust::transform(x.begin(), x.end(), x.begin(), square());
    thrust::device_vector<int> n(10, 3);
    n[4] = 2;
    int *out, found;
    cudaMalloc(&out, sizeof *out);
    largest<<<1, 64>>>(out);
    cudaMemcpy(&found, out, sizeof found, cudaMemcpyDeviceToHost);
    cub::CountingInputIterator<int> counting(5);
    cub::ConstantInputIterator<int> constant(4);
    float values[] = {2, 3};
    cub::TransformInputIterator<float, square, float *> squares(values, square());
    printf("%g %d %d %d %d %g\n", (float)x[3], (int)thrust::count_if(n.begin(), n.end(), thrust::not1(odd())), found,
           counting[2], constant[9], squares[1]);
}

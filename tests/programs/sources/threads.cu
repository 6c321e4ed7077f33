// A program of OpenMP threads, and one of Thrust.
#include <cstdio>
#include <thrust/device_vector.h>
#include <thrust/reduce.h>

int main() {
    int threads = 0;
#pragma omp parallel num_threads(3) reduction(+ : threads)
    threads += 1;
    thrust::device_vector<int> x(1000, 2);
    printf("%d threads, sum %d\n", threads, thrust::reduce(x.begin(), x.end()));
}

// A program that uses each of the virtual libraries with its header.
#include <cstdio>
#include <cublas_v2.h>
#include <cufft.h>
#include <curand.h>
#include <cusolverDn.h>
#include <cusparse.h>
#include <vector>

template <class T> T *on_device(const std::vector<T> &given) {
    T *there;
    cudaMalloc(&there, given.size() * sizeof(T));
    cudaMemcpy(there, given.data(), given.size() * sizeof(T), cudaMemcpyHostToDevice);
    return there;
}
template <class T> std::vector<T> on_host(const T *there, size_t n) {
    std::vector<T> here(n);
    cudaMemcpy(here.data(), there, n * sizeof(T), cudaMemcpyDeviceToHost);
    return here;
}

int main() {
    const float one = 1, none = 0;
    float *a = on_device<float>({4, 1, 1, 3}), *b = on_device<float>({1, 2}), *c = on_device<float>({0, 0, 0, 0});
    cublasHandle_t blas;
    cublasStatus_t first = cublasCreate(&blas);
    first = first ? first : cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_T, 2, 2, 2, &one, a, 2, a, 2, &none, c, 2);
    printf("blas %s %g\n", cublasGetStatusString(first), on_host(c, 4)[0]);

    cufftHandle plan;
    cufftComplex *wave = on_device<cufftComplex>({{1, 0}, {0, 0}, {-1, 0}, {0, 0}});
    cufftResult second = cufftPlan1d(&plan, 4, CUFFT_C2C, 1);
    second = second ? second : cufftExecC2C(plan, wave, wave, CUFFT_FORWARD);
    printf("fft %d %g\n", second, on_host(wave, 4)[1].x);

    curandGenerator_t generator;
    curandStatus_t third = curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT);
    third = third ? third : curandSetPseudoRandomGeneratorSeed(generator, 7ULL);
    third = third ? third : curandGenerateUniform(generator, c, 4);
    printf("rand %d %d\n", third, on_host(c, 4)[3] > 0);

    cusolverDnHandle_t solver;
    int room, *info = on_device<int>({-1});
    cusolverStatus_t fourth = cusolverDnCreate(&solver);
    fourth = fourth ? fourth : cusolverDnSpotrf_bufferSize(solver, CUBLAS_FILL_MODE_LOWER, 2, a, 2, &room);
    float *work = on_device(std::vector<float>(room));
    fourth = fourth ? fourth : cusolverDnSpotrf(solver, CUBLAS_FILL_MODE_LOWER, 2, a, 2, work, room, info);
    fourth = fourth ? fourth : cusolverDnSpotrs(solver, CUBLAS_FILL_MODE_LOWER, 2, 1, a, 2, b, 2, info);
    printf("solver %d %.4f\n", fourth, on_host(b, 2)[1]);

    cusparseHandle_t sparse;
    cusparseSpMatDescr_t matrix;
    cusparseDnVecDescr_t x, y;
    size_t bytes;
    int *rows = on_device<int>({0, 1, 2}), *columns = on_device<int>({1, 0});
    float *values = on_device<float>({2, 3}), *in = on_device<float>({5, 7}), *out = on_device<float>({0, 0});
    cusparseStatus_t fifth = cusparseCreate(&sparse);
    cusparseCreateCsr(&matrix, 2, 2, 2, rows, columns, values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                      CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
    cusparseCreateDnVec(&x, 2, in, CUDA_R_32F);
    cusparseCreateDnVec(&y, 2, out, CUDA_R_32F);
    cusparseSpMV_bufferSize(sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, x, &none, y, CUDA_R_32F,
                            CUSPARSE_SPMV_ALG_DEFAULT, &bytes);
    fifth = fifth ? fifth
                  : cusparseSpMV(sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, x, &none, y, CUDA_R_32F,
                                 CUSPARSE_SPMV_ALG_DEFAULT, nullptr);
    printf("sparse %d %g\n", fifth, on_host(out, 2)[0]);
}

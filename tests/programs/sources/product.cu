// A product by cuBLASLt with its header: D = ReLU(A B + bias).
#include <cstdio>
#include <cublasLt.h>

int main() {
    const float one = 1, none = 0, left[] = {1, 2, 3, 4}, right[] = {1, 0, 1, -1}, given[] = {10, -20};
    float *a, *b, *d, *bias, result[4];
    cudaMalloc(&a, sizeof left);
    cudaMalloc(&b, sizeof right);
    cudaMalloc(&d, sizeof result);
    cudaMalloc(&bias, sizeof given);
    cudaMemcpy(a, left, sizeof left, cudaMemcpyHostToDevice);
    cudaMemcpy(b, right, sizeof right, cudaMemcpyHostToDevice);
    cudaMemcpy(bias, given, sizeof given, cudaMemcpyHostToDevice);

    cublasLtHandle_t handle;
    cublasLtMatmulDesc_t product;
    cublasLtMatrixLayoutOpaque_t own; // a layout of the program's own
    cublasLtMatrixLayout_t layout;
    cublasLtMatmulPreference_t preference;
    cublasLtMatmulHeuristicResult_t found;
    cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_RELU_BIAS;
    int count;
    cublasLtCreate(&handle);
    cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
    cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias);
    cublasLtMatrixLayoutInit(&own, CUDA_R_32F, 2, 2, 2);
    cublasLtMatrixLayoutCreate(&layout, CUDA_R_32F, 2, 2, 2);
    cublasLtMatmulPreferenceCreate(&preference);
    cublasLtMatmulAlgoGetHeuristic(handle, product, &own, layout, layout, layout, preference, 1, &found, &count);
    cublasStatus_t status = cublasLtMatmul(handle, product, &one, a, &own, b, layout, &none, d, layout, d, layout,
                                           &found.algo, nullptr, 0, nullptr);
    cudaMemcpy(result, d, sizeof result, cudaMemcpyDeviceToHost);
    printf("%d %s %g %g %g %g\n", count, cublasLtGetStatusName(status), result[0], result[1], result[2], result[3]);
}

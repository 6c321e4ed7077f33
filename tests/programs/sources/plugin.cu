// A library with a kernel of its own, which is loaded while a program runs.
__global__ void add_one(int *x) { *x += 1; }

extern "C" int answer() {
    int x = 41, *device;
    cudaMalloc(&device, sizeof x);
    cudaMemcpy(device, &x, sizeof x, cudaMemcpyHostToDevice);
    add_one<<<1, 1>>>(device);
    cudaMemcpy(&x, device, sizeof x, cudaMemcpyDeviceToHost);
    return x;
}

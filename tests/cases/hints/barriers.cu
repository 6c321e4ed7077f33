// Races that a line or two mend: launched with one block of 128 threads, x of 512 floats, n = 4.
#define T threadIdx.x

__device__ float neighbour(const float *s)
{
    return s[(T + 33) % 128];
}

__device__ void put(float *s, float value)
{
    s[T] = value;
}

extern "C" __global__ void straight(float *x, int n)
{
    __shared__ float s[128];
    s[T] = x[T];
    x[T] = s[127 - T];
}

extern "C" __global__ void before_a_loop(float *x, int n)
{
    __shared__ float s[128];
    s[T] = x[T];
    float sum = 0;
    for (int i = 0; i < n; i++)
        sum += s[(T + 32 * i) % 128];
    x[T] = sum;
}

extern "C" __global__ void end_of_loop(float *x, int n)
{
    __shared__ float s[128];
    s[T] = x[T];
    __syncthreads();
    for (int i = 0; i < n; i++) {
        float v = s[(T + 1) % 128];
        __syncthreads();
        s[T] = v + 1;
    }
    x[T] = s[T];
}

extern "C" __global__ void end_of_unrolled_loop(float *x, int n)
{
    __shared__ float s[128];
    s[T] = x[T];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 3; i++) {
        float v = s[(T + 1) % 128];
        __syncthreads();
        s[T] = v + 1;
    }
    x[T] = s[T];
}

extern "C" __global__ void both_of_loop(float *x, int n)
{
    __shared__ float s[128];
    float sum = 0;
    for (int i = 0; i < n; i++) {
        s[T] = x[T] * i;
        sum += s[(T + 64) % 128];
    }
    x[T] = sum;
}

extern "C" __global__ void tree(float *x, int n)
{
    __shared__ float s[128];
    s[T] = x[T];
    __syncthreads();
    for (int k = 64; k > 0; k /= 2) {
        if (T < k)
            s[T] += s[T + k];
    }
    if (T == 0) x[0] = s[0];
}

extern "C" __global__ void tree_then_read(float *x, int n)
{
    __shared__ float s[128];
    s[T] = x[T];
    for (int k = 64; k > 0; k /= 2) {
        __syncthreads();
        if (T < k) s[T] += s[T + k];
    }
    x[T] = s[0];
}

extern "C" __global__ void halo(float *x, int n)
{
    __shared__ float s[130];
    s[T + 1] = x[T];
    if (T == 0) s[0] = 0;
    if (T == 127) s[129] = 0;
    x[T] = s[T] + s[T + 1] + s[T + 2];
}

extern "C" __global__ void two_arrays(float *x, int n)
{
    __shared__ float a[128], b[128];
    a[T] = x[T];
    b[T] = x[T + 128];
    x[T] = a[127 - T] + b[127 - T];
}

extern "C" __global__ void two_barriers(float *x, int n)
{
    __shared__ float s[128];
    s[T] = x[T];
    float v = s[(T + 32) % 128];
    s[T] = v + 1;
    x[T] = s[T];
}

extern "C" __global__ void through_functions(float *x, int n)
{
    __shared__ float s[128];
    put(s, x[T]);
    x[T] = neighbour(s);
}

extern "C" __global__ void outer_loop(float *x, int n)
{
    __shared__ float s[128];
    float sum = 0;
    for (int tile = 0; tile < n; tile++) {
        s[T] = x[T] + tile;
        __syncthreads();
        for (int k = 0; k < 128; k++)
            sum += s[k];
    }
    x[T] = sum;
}

extern "C" __global__ void while_loop(float *x, int n)
{
    __shared__ float s[128];
    float sum = 0;
    int i = 0;
    while (i < n) {
        s[T] = x[T] + i;
        __syncthreads();
        sum += s[127 - T];
        ++i;
    }
    x[T] = sum;
}

extern "C" __global__ void uniform_condition(float *x, int n)
{
    __shared__ float s[128];
    if (n > 2) {
        s[T] = x[T];
        x[T] = s[127 - T];
    }
}

extern "C" __global__ void of_one_thread(float *x, int n)
{
    __shared__ float mean;
    if (T == 0) {
        mean = x[0];
    }
    x[T + 1] = mean;
}

extern "C" __global__ void into_global(float *x, int n)
{
    x[T] = T;
    x[T + 128] = x[127 - T];
}

extern "C" __global__ void of_the_warp(float *x, int n)
{
    __shared__ float s[128];
    s[T] = x[T];
    x[T] = s[T ^ 1];
}

extern "C" __global__ void of_one_warp(float *x, int n)
{
    __shared__ float s[64];
    if (T < 32) {
        s[T] = x[T];
        s[T + 32] = 0;
        __syncwarp();
        for (int k = 1; k < 32; k *= 2) {
            float v = s[T + k];
            __syncwarp();
            s[T] += v;
        }
        x[T] = s[T];
    }
}

extern "C" __global__ void tail(float *x, int n)
{
    __shared__ volatile float s[64];
    if (T < 32) {
        s[T] = x[T];
        s[T + 32] = x[T + 32];
        __syncwarp();
        if (T < 16) s[T] += s[T + 16];
        if (T < 8) s[T] += s[T + 8];
        if (T < 4) s[T] += s[T + 4];
        if (T < 2) s[T] += s[T + 2];
        if (T < 1) s[T] += s[T + 1];
        if (T == 0) x[0] = s[0];
    }
}

template <int STEP>
__device__ void halve(float *s)
{
    if (T < STEP)
        s[T] += s[T + STEP];
}

extern "C" __global__ void of_templates(float *x, int n)
{
    __shared__ float s[128];
    s[T] = x[T];
    __syncthreads();
    halve<64>(s);
    halve<32>(s);
    __syncthreads();
    x[T] = s[0];
}

extern "C" __global__ void exchanged(float *x, int n)
{
    __shared__ float a[128], b[128];
    float *from = a, *to = b;
    from[T] = x[T];
    __syncthreads();
    for (int i = 0; i < n; i++) {
        to[T] = from[T] + from[(T + 32) % 128];
        float *other = from;
        from = to;
        to = other;
    }
    x[T] = from[T];
}

extern "C" __global__ void exchanged_in_stages(float *x, int n)
{
    __shared__ float a[128], b[128];
    float *from = a, *to = b;
    from[T] = x[T];
    __syncthreads();
    for (int k = 1; k < 128; k *= 2) {
        to[T] = from[T] + (T >= k ? from[T - k] : 0);
        float *other = from;
        from = to;
        to = other;
    }
    x[T] = from[T];
}

extern "C" __global__ void until_nothing_changes(float *x, int n)
{
    __shared__ int changed, turns;
    if (T == 0) changed = turns = 1;
    __syncthreads();
    while (changed) {
        if (T == 0) changed = 0;
        __syncthreads();
        if (T == 0) changed = turns++ < n;
        __syncthreads();
    }
    x[T] = turns;
}

extern "C" __global__ void butterflies(float *x, int n)
{
    __shared__ float s[256];
    s[T] = x[T];
    s[T + 128] = x[T + 128];
    __syncthreads();
    for (int half = 128; half >= 1; half /= 2) {
        int i = T / half * 2 * half + T % half;
        float a = s[i], b = s[i + half];
        s[i] = a + b;
        s[i + half] = a - b;
    }
    __syncthreads();
    x[T] = s[T];
}

extern "C" __global__ void rows_of_a_block(float *x, int n)
{
    __shared__ float parts[4];
    for (int r = blockIdx.x; r < n; r += gridDim.x) {
        float sum = 0;
        for (int c = T; c < n; c += blockDim.x) sum += x[r * n + c];
        for (int far = 16; far; far /= 2) sum += __shfl_xor_sync(~0u, sum, far);
        if (T % 32 == 0) parts[T / 32] = sum;
        __syncthreads();
        if (T == 0) {
            float all = 0;
            for (int w = 0; w < 4; w++) all += parts[w];
            x[n * n + r] = all;
        }
    }
}

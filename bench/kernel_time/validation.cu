// Kernels that the model of kernel times is judged by and that nothing was fitted to; unlike each other on purpose.

typedef unsigned int u32;
typedef unsigned long long u64;
#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)

// ---- streams that are not in calibration.cu
extern "C" __global__ void axpy(float a, const float *x, float *y, int n) {
    int i = THREAD;
    if (i < n) y[i] = a * x[i] + y[i];
}
extern "C" __global__ void triad_grid(const double *a, const double *b, double *c, double s, int n) {
    for (int i = THREAD; i < n; i += gridDim.x * blockDim.x) c[i] = a[i] + s * b[i];
}
extern "C" __global__ void strided_read(const float *x, float *y, int n, int stride) {
    int i = THREAD;
    if (i < n) y[i] = x[(long)i * stride % n];
}
extern "C" __global__ void structures(const float *x, float *y, int n) {  // arrays of structures of five floats
    int i = THREAD;
    if (i < n) y[i] = x[5 * i] + x[5 * i + 1] + x[5 * i + 2] + x[5 * i + 3] + x[5 * i + 4];
}
extern "C" __global__ void gather_rows(const int *index, const float *x, float *y, int n) {
    int i = THREAD;
    if (i < n) y[i] = x[index[i] % n];
}
extern "C" __global__ void bytes_to_floats(const unsigned char *x, float *y, int n) {
    int i = THREAD;
    if (i < n) y[i] = x[i] * (1.0f / 255);
}
extern "C" __global__ void offset_copy(const float *x, float *y, int n) {
    int i = THREAD;
    if (i < n - 1) y[i] = x[i + 1];
}

// ---- arithmetic
extern "C" __global__ void mandelbrot(int *out, int width, int height, int most) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float cr = -2.2f + 3.0f * x / width, ci = -1.2f + 2.4f * y / height, r = 0, i = 0;
    int k = 0;
    for (; k < most && r * r + i * i < 4; ++k) {
        float t = r * r - i * i + cr;
        i = 2 * r * i + ci, r = t;
    }
    out[y * width + x] = k;
}
extern "C" __global__ void black_scholes(const float *s, const float *k, const float *t, float *call, int n) {
    int i = THREAD;
    if (i >= n) return;
    float root = sqrtf(t[i]), d1 = (logf(s[i] / k[i]) + 0.06f * t[i]) / (0.3f * root), d2 = d1 - 0.3f * root;
    call[i] = s[i] * normcdff(d1) - k[i] * expf(-0.02f * t[i]) * normcdff(d2);
}
extern "C" __global__ void n_body(const float4 *at, float4 *force, int n) {
    __shared__ float4 tile[256];
    int i = THREAD;
    float4 mine = at[i];
    float fx = 0, fy = 0, fz = 0;
    for (int start = 0; start < n; start += 256) {
        tile[threadIdx.x] = at[start + threadIdx.x];
        __syncthreads();
#pragma unroll 8
        for (int j = 0; j < 256; ++j) {
            float dx = tile[j].x - mine.x, dy = tile[j].y - mine.y, dz = tile[j].z - mine.z;
            float r = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-6f), w = tile[j].w * r * r * r;
            fx += w * dx, fy += w * dy, fz += w * dz;
        }
        __syncthreads();
    }
    force[i] = make_float4(fx, fy, fz, 0);
}
extern "C" __global__ void double_polynomial(const double *x, double *y, int n) {
    int i = THREAD;
    if (i >= n) return;
    double v = x[i], s = 0;
#pragma unroll 16
    for (int k = 0; k < 64; ++k) s = fma(s, v, 1.0 / (k + 1));
    y[i] = s;
}
extern "C" __global__ void collatz(int *steps, int n) {
    int i = THREAD;
    if (i >= n) return;
    u64 v = i + 1;
    int k = 0;
    for (; v != 1; ++k) v = v & 1 ? 3 * v + 1 : v / 2;
    steps[i] = k;
}
extern "C" __global__ void hash_rounds(const u32 *x, u32 *y, int n) {
    int i = THREAD;
    if (i >= n) return;
    u32 h = x[i];
    for (int k = 0; k < 100; ++k) h ^= h >> 16, h *= 0x85ebca6b, h ^= h >> 13, h *= 0xc2b2ae35, h += k;
    y[i] = h;
}
extern "C" __global__ void divide_integers(const int *x, const int *y, int *z, int n) {
    int i = THREAD;
    if (i >= n) return;
    int a = x[i], b = y[i] | 1, s = 0;
    for (int k = 1; k < 16; ++k) s += a / (b + k) + a % (b + k);
    z[i] = s;
}
extern "C" __global__ void sines(const float *x, float *y, int n) {
    int i = THREAD;
    if (i >= n) return;
    float v = x[i];
    for (int k = 0; k < 32; ++k) v = __sinf(v) + __cosf(v) * 0.5f;
    y[i] = v;
}
extern "C" __global__ void power_double(const double *x, double *y, int n) {
    int i = THREAD;
    if (i < n) y[i] = exp(x[i]) * log(1.5 + x[i]);
}

// ---- latency
extern "C" __global__ void list_ranking(const int *next, int *out, int n, int steps) {
    int at = THREAD % n;
    for (int k = 0; k < steps; ++k) at = next[at] % n;
    out[THREAD] = at;
}
extern "C" __global__ void binary_search(const int *sorted, const int *keys, int *places, int n, int m) {
    int i = THREAD;
    if (i >= m) return;
    int low = 0, high = n, key = keys[i];
    while (low < high) {
        int middle = (low + high) / 2;
        if (sorted[middle] < key) low = middle + 1;
        else high = middle;
    }
    places[i] = low;
}
extern "C" __global__ void one_warp_sum(const float *x, float *y, int n) {
    float s = 0;
    for (int i = threadIdx.x; i < n; i += 32) s += x[i];
    for (int k = 16; k; k /= 2) s += __shfl_down_sync(0xffffffff, s, k);
    if (threadIdx.x == 0) y[0] = s;
}
extern "C" __global__ void many_barriers(float *x, int n) {
    __shared__ float s[256];
    s[threadIdx.x] = x[THREAD];
    for (int k = 0; k < 200; ++k) {
        __syncthreads();
        float v = s[(threadIdx.x + k) % 256];
        __syncthreads();
        s[threadIdx.x] = v + 1;
    }
    x[THREAD] = s[threadIdx.x];
}

// ---- shared memory
extern "C" __global__ void bank_conflicts(float *x, int stride) {
    __shared__ float s[4096];
    for (int i = threadIdx.x; i < 4096; i += blockDim.x) s[i] = i;
    __syncthreads();
    float v = 0;
    int at = threadIdx.x * stride % 4096;
    for (int k = 0; k < 256; ++k) v += s[(at + k) % 4096];
    x[THREAD] = v;
}
extern "C" __global__ void stencil_3d(const float *a, float *b, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
    for (int z = 1; z < n - 1; ++z) {
        long i = ((long)z * n + y) * n + x;
        b[i] = 0.4f * a[i] + 0.1f * (a[i - 1] + a[i + 1] + a[i - n] + a[i + n] + a[i - n * n] + a[i + n * n]);
    }
}
extern "C" __global__ void game_of_life(const unsigned char *a, unsigned char *b, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int sum = 0;
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) sum += a[(y + dy + h) % h * w + (x + dx + w) % w] & 1;
    int mine = a[y * w + x] & 1;
    b[y * w + x] = sum - mine == 3 || (mine && sum - mine == 2);
}
extern "C" __global__ void softmax_rows(const float *x, float *y, int columns) {
    __shared__ float s[32];
    const float *row = x + (long)blockIdx.x * columns;
    float most = -1e30f, sum = 0;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) most = fmaxf(most, row[i]);
    for (int k = 16; k; k /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, k));
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = most;
    __syncthreads();
    for (int k = 0; k < blockDim.x / 32; ++k) most = fmaxf(most, s[k]);
    __syncthreads();
    for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += expf(row[i] - most);
    for (int k = 16; k; k /= 2) sum += __shfl_xor_sync(0xffffffff, sum, k);
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0;
    for (int k = 0; k < blockDim.x / 32; ++k) sum += s[k];
    for (int i = threadIdx.x; i < columns; i += blockDim.x) y[(long)blockIdx.x * columns + i] = expf(row[i] - most) / sum;
}
extern "C" __global__ void transpose_double(const double *a, double *b, int n) {
    __shared__ double tile[16][17];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = a[(long)y * n + x];
    __syncthreads();
    b[(long)(blockIdx.x * 16 + threadIdx.y) * n + blockIdx.y * 16 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
extern "C" __global__ void matmul_double(const double *a, const double *b, double *c, int n) {
    __shared__ double s[16][16], t[16][16];
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    double sum = 0;
    for (int k = 0; k < n; k += 16) {
        s[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
        t[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
        __syncthreads();
        for (int j = 0; j < 16; ++j) sum += s[threadIdx.y][j] * t[j][threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}
extern "C" __global__ void sparse_rows(const int *first, const int *column, const float *value, const float *x,
                                       float *y, int rows) {
    int row = THREAD;
    if (row >= rows) return;
    float sum = 0;
    for (int k = first[row]; k < first[row + 1]; ++k) sum += value[k] * x[column[k]];
    y[row] = sum;
}

// ---- atomics
extern "C" __global__ void count_even(const int *x, int *count, int n) {
    int i = THREAD;
    if (i < n && x[i] % 2 == 0) atomicAdd(count, 1);
}
extern "C" __global__ void sum_by_atomics(const float *x, float *sum, int n) {
    int i = THREAD;
    if (i < n) atomicAdd(sum + (i & 63), x[i]);
}
extern "C" __global__ void compact(const int *x, int *y, int *count, int n) {
    int i = THREAD;
    if (i < n && x[i] % 3 == 0) y[atomicAdd(count, 1)] = x[i];
}
extern "C" __global__ void scatter_add(const int *index, const float *x, float *y, int n, int places) {
    int i = THREAD;
    if (i < n) atomicAdd(y + index[i] % places, x[i]);
}
extern "C" __global__ void shared_float_bins(const int *x, float *bins, int n) {
    __shared__ float s[64];
    if (threadIdx.x < 64) s[threadIdx.x] = 0;
    __syncthreads();
    for (int i = THREAD; i < n; i += gridDim.x * blockDim.x) atomicAdd(s + x[i] % 64, 1.0f);
    __syncthreads();
    if (threadIdx.x < 64) atomicAdd(bins + threadIdx.x, s[threadIdx.x]);
}
extern "C" __global__ void largest(const int *x, int *most, int n) {
    int i = THREAD, v = i < n ? x[i] : 0;
    for (int k = 16; k; k /= 2) v = max(v, __shfl_xor_sync(0xffffffff, v, k));
    if (threadIdx.x % 32 == 0) atomicMax(most, v);
}

// ---- divergence, local memory, few blocks
extern "C" __global__ void divergent_trips(const int *x, float *y, int n) {
    int i = THREAD;
    if (i >= n) return;
    float v = 1;
    for (int k = 0; k < (x[i] & 127); ++k) v = v * 1.0001f + 0.5f;
    y[i] = v;
}
extern "C" __global__ void local_array(const int *x, int *y, int n) {
    int i = THREAD;
    if (i >= n) return;
    int bins[32];
    for (int k = 0; k < 32; ++k) bins[k] = 0;
    u32 v = x[i];
    for (int k = 0; k < 48; ++k) v = v * 1664525u + 1013904223u, bins[v >> 27] += 1;
    int most = 0;
    for (int k = 0; k < 32; ++k) most = max(most, bins[k]);
    y[i] = most;
}
extern "C" __global__ void polynomial_few(const float *x, float *y, int n) {  // launched with less than a wave
    int i = THREAD;
    if (i >= n) return;
    float v = x[i], s = 0;
    for (int k = 0; k < 5000; ++k) s = s * v + 0.25f;
    y[i] = s;
}
extern "C" __global__ void one_thread_blocks(const float *x, float *y) { y[blockIdx.x] = 2 * x[blockIdx.x]; }

// Races that no added line mends: one block of 128 threads unless "two blocks", x of 512 floats, n = 4.
#define T threadIdx.x

extern "C" __global__ void sum_of_all(float *x, int n)
{
    x[0] += T;  // HINT: atomicAdd()
}

extern "C" __global__ void histogram(float *x, int n)
{
    __shared__ int bins[8];
    if (T < 8) bins[T] = 0;
    __syncthreads();
    bins[T % 8]++;  // HINT: atomicAdd()
    __syncthreads();
    if (T < 8) x[T] = bins[T];
}

extern "C" __global__ void largest(float *x, int n)
{
    __shared__ int most;
    if (T == 0) most = 0;
    __syncthreads();
    most = max(most, (int)T);  // HINT: atomicMax()
    __syncthreads();
    x[T] = most;
}

extern "C" __global__ void two_updates(float *x, int n)
{
    __shared__ int bins[8];
    if (T < 8) bins[T] = 0;
    __syncthreads();
    bins[T % 8]++;  // HINT: atomicAdd()
    bins[T / 16]++;
    __syncthreads();
    if (T < 8) x[T] = bins[T];
}

extern "C" __global__ void one_place(float *x, int n)
{
    x[3] = T;  // HINT: let one thread write it
}

extern "C" __global__ void two_branches(float *x, int n)
{
    __shared__ float s[64];
    if (T < 64) {  // HINT: make two conditions of it
        s[T] = x[T];
    } else {
        x[T] = s[T - 64];
    }
}

extern "C" __global__ void in_a_branch(float *x, int n)
{
    __shared__ float s[128];
    if (T < 100) {  // HINT: a barrier cannot stand under it
        s[T] = x[T];
        x[T] = s[99 - T];
    }
}

extern "C" __global__ void uneven_loop(float *x, int n)
{
    __shared__ float s[128];
    s[T] = 0;
    __syncthreads();
    for (int i = T; i < 130; i += 64) {  // HINT: pass the loop of
        s[T] = x[i];
        x[i] = s[127 - T];
    }
}

extern "C" __global__ void shifted(float *x, int n)
{
    __shared__ float s[129];
    s[T] = x[T];
    if (T == 0) s[128] = 0;
    __syncthreads();
    s[T] = s[T + 1];  // HINT: read into a variable first, then __syncthreads(), then write
    __syncthreads();
    x[T] = s[T];
}

extern "C" __global__ void dynamic(float *x, int n)
{
    extern __shared__ float first[];
    extern __shared__ float second[];
    first[T] = x[T];
    second[127 - T] = 1;  // HINT: first and second are the same dynamic shared memory
    __syncthreads();
    x[T] = first[T] + second[T];
}

extern "C" __global__ void between_blocks(float *x, int n)  // two blocks
{
    int i = blockIdx.x * 128 + T;
    x[i] = T;
    x[256 + i] = x[255 - i];  // HINT: no barrier orders blocks
}

extern "C" __global__ void sum_of_blocks(float *x, int n)  // two blocks
{
    if (T == 0) x[0] += n;  // HINT: atomicAdd()
}

extern "C" __global__ void unguarded_tail(float *x, int n)
{
    __shared__ volatile float s[96];
    if (T < 64) s[T] = x[T];
    __syncthreads();
    if (T < 32) {
        s[T] += s[T + 32];
        s[T] += s[T + 16];  // HINT: then __syncwarp(), then write, then __syncwarp()
        s[T] += s[T + 8];
        s[T] += s[T + 4];
        s[T] += s[T + 2];
        s[T] += s[T + 1];
    }
    __syncthreads();
    if (T == 0) x[0] = s[0];
}

extern "C" __global__ void transposed_in_place(float *x, int n)  // two blocks
{
    int i = blockIdx.x * 128 + T;
    float v = x[i];  // HINT: no barrier orders blocks
    x[i] = x[255 - i] + T;
    x[255 - i] = v - T;
}

extern "C" __global__ void carved(float *x, int n)
{
    extern __shared__ float pool[];
    float *values = pool;
    float *sums = pool + blockDim.x / 4;
    values[T] = x[T];
    sums[T] = 1;  // HINT: sums and values are parts of one array that overlap
    __syncthreads();
    x[T] = values[T] + sums[127 - T];
}

extern "C" __global__ void compared(float *x, int n)  // two blocks
{
    if (T > x[0])
        x[0] = T;  // HINT: make it one operation, atomicMax()
}

extern "C" __global__ void tested(float *x, int n)
{
    __shared__ float s[128];
    s[T] = T;
    __syncthreads();
    if (s[(T + 127) % 128] < s[T]) {  // HINT: reads what is written under it
        s[T] = 0;
    }
    __syncthreads();
    x[T] = s[T];
}

extern "C" __global__ void counted_in_lines(float *x, int n)
{
    float before = x[0];
    x[1 + T] = before;
    x[0] = before + 1;  // HINT: make it one operation, atomicAdd()
}

__device__ int taken;

extern "C" __global__ void under_a_lock(float *x, int n)  // two blocks
{
    if (T == 0) {
        while (atomicCAS(&taken, 0, 1) != 0) {
        }
        x[1] = x[0] * n;  // HINT: keeps others out, but orders no other memory: add __threadfence()
        x[0] = x[1] + 1;
        atomicExch(&taken, 0);
    }
}

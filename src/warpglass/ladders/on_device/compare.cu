// Compares results with the truth where they lie; verdicts.py says what right means, device_verdicts.py launches.

__device__ double infinity() { return __longlong_as_double(0x7ff0000000000000); }

// NaN counts as negative, which makes no difference: it equals nothing.
template <typename T>
__device__ bool negative(T value) { return !(value > 0 || value == 0); }

template <typename F, typename V>
__device__ double distance(F found, V value)
{
    const bool alike = negative(found) == negative(value);  // of integers of two types only one may have a sign
    if ((alike && found == value) || (found != found && value != value)) return 0;
    const double apart = fabs((double)found - (double)value);
    return apart > 0 ? apart : apart == 0 ? 1 : infinity();  // large integers may be equal as doubles; NaN is far
}

__device__ bool worse(double excess, unsigned long long place, double than, unsigned long long there)
{
    return excess > than || (excess == than && place < there);
}

// Every block leaves its worst element: how far it is beyond its bound (an excess above 1 counts as infinite),
// where it is, and how many are wrong.
template <typename F, typename V>
__global__ void compare(const F *found, const V *value, const double *magnitude, unsigned long long step,
                        double relative, unsigned long long n, double *excesses, unsigned long long *places,
                        unsigned long long *wrongs)
{
    double worst = 0;
    unsigned long long at = n, wrong = 0;
    const unsigned long long stride = (unsigned long long)gridDim.x * blockDim.x;
    for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        const double size = magnitude[i * step];
        const double bound = size == 0 ? 0 : relative * size;
        const double error = distance(found[i], value[i]);
        const bool right = error <= bound;
        const double excess = !right ? infinity() : bound > 0 ? error / bound : 0;
        wrong += !right;
        if (worse(excess, i, worst, at)) worst = excess, at = i;
    }
    __shared__ double block_worst[256];
    __shared__ unsigned long long block_at[256], block_wrong[256];
    const unsigned t = threadIdx.x;
    block_worst[t] = worst, block_at[t] = at, block_wrong[t] = wrong;
    for (unsigned half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) {
            block_wrong[t] += block_wrong[t + half];
            if (worse(block_worst[t + half], block_at[t + half], block_worst[t], block_at[t]))
                block_worst[t] = block_worst[t + half], block_at[t] = block_at[t + half];
        }
    }
    if (t != 0) return;
    excesses[blockIdx.x] = block_worst[0];
    places[blockIdx.x] = block_at[0];
    wrongs[blockIdx.x] = block_wrong[0];
}

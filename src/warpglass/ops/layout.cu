// Copies between layouts and element types: see layout.py.

// An IEEE half, which PTX converts to and from a float.
struct Half {
    unsigned short bits;

    Half() = default;
    __device__ explicit Half(float value) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value)); }
    __device__ explicit Half(double value) { asm("cvt.rn.f16.f64 %0, %1;" : "=h"(bits) : "d"(value)); }
    __device__ operator float() const
    {
        float value;
        asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
        return value;
    }
};

// Dimensions, the innermost first: elements, and bytes from one to the next in either array.
struct Layout {
    unsigned long long extent[8];
    long long source[8], target[8];
};

template <typename From, typename To, int DIMENSIONS>
__global__ void copy(const From *x, To *y, unsigned long long n, Layout layout)
{
    const unsigned long long threads = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
    for (unsigned long long i = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
         i += threads) {
        unsigned long long rest = i;
        long long source = 0, target = 0;
#pragma unroll
        for (int k = 0; k < DIMENSIONS; ++k) {
            const bool last = k + 1 == DIMENSIONS;
            const unsigned long long at = last ? rest : rest % layout.extent[k];
            if (!last) rest /= layout.extent[k];
            source += static_cast<long long>(at) * layout.source[k];
            target += static_cast<long long>(at) * layout.target[k];
        }
        const From value = *reinterpret_cast<const From *>(reinterpret_cast<const char *>(x) + source);
        *reinterpret_cast<To *>(reinterpret_cast<char *>(y) + target) = static_cast<To>(value);
    }
}

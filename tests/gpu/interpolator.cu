// The multifunction unit and what ptxas writes around it, compared with the hardware argument by argument.
// Every `TABLE(name)` is replaced by the rows of isa/interpolator.json: the constant term, c1, c2.
typedef long long i64;
typedef unsigned u32;

TABLE(rcp)
TABLE(rsqrt)
TABLE(sqrt)
TABLE(ex2)
TABLE(lg2)
TABLE(sin)
TABLE(tanh)

#define NAN_BITS 0x7fffffffu
#define INF_BITS 0x7f800000u

__device__ i64 square(u32 x, int bits) {
    const int cut = bits == 16 ? 17 : 19;
    i64 sum = 0;
    for (int i = 0; i < bits; i++)
        for (int j = i; j < bits; j++) {
            int column = i == j ? 2 * i : i + j + 1;
            if (column >= cut) sum += (i64)((x >> i) & (x >> j) & 1) << column;
        }
    return sum >> cut;
}

__device__ i64 sum(const i64 *row, u32 distance, int bits) {
    return row[0] + row[1] * distance + row[2] * square(distance, bits);
}

// value * 2^exponent cut to a float; subnormal results are zero.
__device__ u32 pack(i64 value, int exponent) {
    if (value <= 0) return 0;
    int top = 63 - __clzll(value);
    i64 mantissa = top >= 23 ? value >> (top - 23) : value << (23 - top);
    int biased = top + exponent + 127;
    if (biased <= 0) return 0;
    return biased >= 255 ? INF_BITS : (u32)biased << 23 | (u32)(mantissa & 0x7fffff);
}

__device__ float as_float(u32 x) { return __uint_as_float(x); }
__device__ u32 as_bits(float x) { return __float_as_uint(x); }

struct Argument {
    u32 sign, size, mantissa;
    int exponent;
    __device__ Argument(u32 x)
        : sign(x & 0x80000000u), size(x & 0x7fffffff), mantissa(x & 0x7fffff),
          exponent((int)((x & 0x7fffffff) >> 23) - 127) {}
    __device__ bool is_nan() const { return size > INF_BITS; }
    __device__ bool tiny() const { return size < 0x800000; }
};

__device__ u32 unit_rcp(u32 x) {
    Argument a(x);
    if (a.is_nan()) return NAN_BITS;
    if (a.size == INF_BITS) return a.sign;
    if (a.tiny()) return a.sign | INF_BITS;
    return a.sign | pack(sum(rcp_rows[a.mantissa >> 16], a.mantissa & 0xffff, 16), -39 - a.exponent);
}

__device__ u32 unit_rsqrt(u32 x) {
    Argument a(x);
    if (a.is_nan()) return NAN_BITS;
    if (a.tiny()) return a.sign | INF_BITS;
    if (a.sign) return NAN_BITS;
    if (a.size == INF_BITS) return 0;
    int odd = a.exponent & 1;
    if (!odd && !a.mantissa) return (u32)(127 - a.exponent / 2) << 23;
    i64 value = sum(rsqrt_rows[odd << 6 | a.mantissa >> 17], a.mantissa & 0x1ffff, 17);
    return pack(value, -40 - (a.exponent - odd) / 2);
}

__device__ u32 unit_sqrt(u32 x) {
    Argument a(x);
    if (a.is_nan()) return NAN_BITS;
    if (a.tiny()) return a.sign;
    if (a.sign) return NAN_BITS;
    if (a.size == INF_BITS) return a.size;
    int odd = a.exponent & 1;
    i64 value = sum(sqrt_rows[odd << 6 | a.mantissa >> 17], a.mantissa & 0x1ffff, 17);
    return pack(value, -40 + (a.exponent - odd) / 2);
}

__device__ u32 unit_ex2(u32 x) {
    Argument a(x);
    if (a.is_nan()) return NAN_BITS;
    if (a.tiny()) return 0x3f800000;
    if (a.size >= 0x43800000) return a.sign ? 0 : INF_BITS;
    i64 fixed = (i64)((double)as_float(a.size) * 8388608.0);
    if (a.sign) fixed = fixed & 0x7fffff ? -fixed - 1 : -fixed;
    u32 fraction = fixed & 0x7fffff;
    return pack(sum(ex2_rows[fraction >> 17], fraction & 0x1ffff, 17), -38 + (int)(fixed >> 23));
}

__device__ u32 unit_lg2(u32 x) {
    Argument a(x);
    if (a.is_nan()) return NAN_BITS;
    if (a.tiny()) return 0xff800000;
    if (a.sign) return NAN_BITS;
    if (a.size == INF_BITS) return a.size;
    if (a.size == 0x3f800000) return 0;
    i64 value = (i64)a.exponent * (1ll << 36) + (sum(lg2_rows[a.mantissa >> 17], a.mantissa & 0x1ffff, 17) >> 2);
    return value < 0 ? 0x80000000u | pack(-value - 1, -36) : pack(value, -36);
}

__device__ u32 circle(u32 x, int quarters) {
    Argument a(x);
    if (a.size >= INF_BITS) return NAN_BITS;
    u32 turns = as_bits(__fmul_rz(as_float(a.tiny() ? 0 : a.size), 0.15915493667125701904f));
    int shift = (int)(turns >> 23) - 127 - 23 + 25;
    u32 mantissa = turns < 0x800000 ? 0 : (turns & 0x7fffff) | 0x800000;
    i64 fixed = shift >= 0 ? (shift < 40 ? (i64)mantissa << shift : 0) : shift > -32 ? mantissa >> -shift : 0;
    u32 quadrant = ((u32)(fixed >> 23) + quarters) & 3, low = fixed & 0x7fffff;
    if (quadrant & 1) low ^= 0x7fffff;
    u32 result = pack(sum(sin_rows[low >> 17], low & 0x1ffff, 17), -38);
    return result | ((quadrant & 2 ? 0x80000000u : 0) ^ (quarters ? 0 : a.sign));
}

__device__ u32 unit_sin(u32 x) { return circle(x, 0); }
__device__ u32 unit_cos(u32 x) { return circle(x, 1); }

__device__ u32 unit_tanh(u32 x) {
    Argument a(x);
    if (a.is_nan()) return NAN_BITS;
    if (a.size >= 0x41000000) return a.sign | 0x3f800000;
    if (a.exponent < -8) return x;
    const int depths[11] = {0, 0, 0, 1, 1, 2, 2, 2, 3, 4, 3};
    int first = 0, depth = depths[a.exponent + 8];
    for (int i = 0; i < a.exponent + 8; i++) first += 1 << depths[i];
    u32 row = first + (a.mantissa >> (23 - depth)), distance = (a.mantissa >> (6 - depth)) & 0x1ffff;
    u32 result = pack(sum(tanh_rows[row], distance, 17), -39);
    return a.sign | (result > 0x3f7fffff ? 0x3f7fffff : result);
}

// Without .ftz.
__device__ bool is_tiny(float x) { return fabsf(x) < 1.175494350822287508e-38f; }

__device__ u32 full_rcp(u32 x) {
    float v = as_float(x), scale = fabsf(v) > 8.50705917302346158658e+37f ? 0.25f : is_tiny(v) ? 16777216.0f : 1.0f;
    return as_bits(scale * as_float(unit_rcp(as_bits(v * scale))));
}

__device__ u32 full_rsqrt(u32 x) {
    float v = as_float(x);
    return is_tiny(v) ? as_bits(as_float(unit_rsqrt(as_bits(v * 16777216.0f))) * 4096.0f) : unit_rsqrt(x);
}

__device__ u32 full_sqrt(u32 x) {
    float v = as_float(x);
    return is_tiny(v) ? as_bits(as_float(unit_sqrt(as_bits(v * 16777216.0f))) * 0.000244140625f) : unit_sqrt(x);
}

__device__ u32 full_ex2(u32 x) {
    float v = as_float(x);
    if (!(v < -126.0f)) return unit_ex2(x);
    float root = as_float(unit_ex2(as_bits(v * 0.5f)));
    return as_bits(root * root);
}

__device__ u32 full_lg2(u32 x) {
    float v = as_float(x);
    return is_tiny(v) ? as_bits(as_float(unit_lg2(as_bits(v * 16777216.0f))) - 24.0f) : unit_lg2(x);
}

// Counts arguments first, first + 1, ... whose results differ, and keeps the last of them.
#define COMPARE(name, opcode, model)                                                     \
    extern "C" __global__ void name(u32 first, u32 rounds, u32 *wrong) {                 \
        u32 x = first + (blockIdx.x * blockDim.x + threadIdx.x);                         \
        for (u32 i = 0; i < rounds; i++, x += gridDim.x * blockDim.x) {                  \
            float result;                                                                \
            asm volatile(opcode ".f32 %0, %1;" : "=f"(result) : "f"(as_float(x)));       \
            if (as_bits(result) != model(x)) { atomicAdd(wrong, 1); wrong[1] = x; }      \
        }                                                                                \
    }

COMPARE(rcp_ftz, "rcp.approx.ftz", unit_rcp)
COMPARE(rsqrt_ftz, "rsqrt.approx.ftz", unit_rsqrt)
COMPARE(sqrt_ftz, "sqrt.approx.ftz", unit_sqrt)
COMPARE(ex2_ftz, "ex2.approx.ftz", unit_ex2)
COMPARE(lg2_ftz, "lg2.approx.ftz", unit_lg2)
COMPARE(sin_ftz, "sin.approx.ftz", unit_sin)
COMPARE(cos_ftz, "cos.approx.ftz", unit_cos)
COMPARE(tanh_, "tanh.approx", unit_tanh)
COMPARE(rcp_, "rcp.approx", full_rcp)
COMPARE(rsqrt_, "rsqrt.approx", full_rsqrt)
COMPARE(sqrt_, "sqrt.approx", full_sqrt)
COMPARE(ex2_, "ex2.approx", full_ex2)
COMPARE(lg2_, "lg2.approx", full_lg2)
COMPARE(sin_, "sin.approx", unit_sin)
COMPARE(cos_, "cos.approx", unit_cos)

/* Thrust's functions with the bases and adaptors of functors that it had up to CUDA 12. */
#pragma GCC system_header
#include_next <thrust/functional.h>
#ifndef WARPGLASS_OLDER_FUNCTIONAL
#define WARPGLASS_OLDER_FUNCTIONAL

THRUST_NAMESPACE_BEGIN
template <class Argument, class Result> struct unary_function {
    using argument_type = Argument;
    using result_type = Result;
};
template <class First, class Second, class Result> struct binary_function {
    using first_argument_type = First;
    using second_argument_type = Second;
    using result_type = Result;
};
template <class Predicate> struct unary_negate {
    Predicate predicate;
    template <class T> __host__ __device__ bool operator()(const T &x) const { return !predicate(x); }
};
template <class Predicate> struct binary_negate {
    Predicate predicate;
    template <class T, class U> __host__ __device__ bool operator()(const T &x, const U &y) const
    {
        return !predicate(x, y);
    }
};
template <class Predicate> __host__ __device__ unary_negate<Predicate> not1(const Predicate &predicate)
{
    return {predicate};
}
template <class Predicate> __host__ __device__ binary_negate<Predicate> not2(const Predicate &predicate)
{
    return {predicate};
}
THRUST_NAMESPACE_END
#endif

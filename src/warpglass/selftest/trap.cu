// The kernel checks its own argument.
#include <cassert>

extern "C" __global__ void planted(int n)
{
    assert(n < 100);  // PLANTED
}

extern "C" __global__ void sound(int n)
{
    assert(n <= 100);
}

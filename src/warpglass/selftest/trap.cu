// The kernel checks its own argument.
extern "C" __global__ void planted(int n)
{
    if (n >= 100) __trap();  // PLANTED
}

extern "C" __global__ void sound(int n)
{
    if (n > 100) __trap();
}

// A flag that nobody sets is waited for, without end or with patience.
extern "C" __global__ void planted(volatile int *flag, int *y)
{
    int looked = 0;
    while (*flag == 0) looked++;  // PLANTED
    *y = looked;
}

extern "C" __global__ void sound(volatile int *flag, int *y)
{
    int looked = 0;
    while (*flag == 0 && looked < 100) looked++;
    *y = looked;
}

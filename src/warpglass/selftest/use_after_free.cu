// Memory from malloc must be read before it is given back.
extern "C" __global__ void planted(int *y)
{
    int *memory = static_cast<int *>(malloc(sizeof(int)));
    *memory = 7;
    free(memory);
    *y = *static_cast<volatile int *>(memory);  // PLANTED
}

extern "C" __global__ void sound(int *y)
{
    int *memory = static_cast<int *>(malloc(sizeof(int)));
    *memory = 7;
    *y = *static_cast<volatile int *>(memory);
    free(memory);
}

// Makes the states of all tiles and the ticket zero, as the next run of single_pass expects them.
__global__ void forget(unsigned int *states, unsigned int *ticket, unsigned int tiles)
{
    const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < tiles) states[i] = 0;
    if (i == 0) *ticket = 0;
}

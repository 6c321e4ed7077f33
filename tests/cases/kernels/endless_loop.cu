// Collatz with the step to the next number left out for one of its two cases: some threads never come to 1.
// launch: grid=1 block=64 timeout=3 args=i4[64]
extern "C" __global__ void endless_loop(int *steps) {
    unsigned n = threadIdx.x + 1;
    int count = 0;
    while (n != 1) {  // BUG: timeout
        if (n % 2 == 0) n /= 2;  // BUG: timeout
        else if (!BUGGY || n > 100) n = 3 * n + 1;  // BUG: timeout
        count++;  // BUG: timeout
    }
    steps[threadIdx.x] = count;
}

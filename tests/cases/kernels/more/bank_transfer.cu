// Transfers between accounts lock the one they take from and not the one they give to.
// launch: grid=4 block=1 args=i4[8]:rand,i4[8],i4[8]
extern "C" __global__ void bank_transfer(const int *to, int *money, int *lock) {
    int from = blockIdx.x, other = 7;
    while (atomicCAS(&lock[BUGGY ? from : 7], 0, 1)) {}
    __threadfence();
    money[from] -= to[from] & 3;
    money[other] += to[from] & 3;  // BUG: global-race
    __threadfence();
    atomicExch(&lock[BUGGY ? from : 7], 0);
}

// A search for a pattern starts at the last characters, too.
// launch: grid=2 block=64 args=u1[128]:rand,u1[4]:rand,i4[128],i4=128,i4=4
extern "C" __global__ void pattern_match(const unsigned char *text, const unsigned char *pattern, int *hit, int n,
                                         int m) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < (BUGGY ? n : n - m + 1)) {
        int same = 0;
        for (int k = 0; k < m; k++) same += text[i + k] == pattern[k];  // BUG: out-of-bounds
        hit[i] = same == m;
    }
}

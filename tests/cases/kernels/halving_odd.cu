// Halving drops the middle element whenever the size is odd; the upper half must begin at (n + 1) / 2.
// launch: grid=1 block=1 args=all:f4[11]:rand,f4[6],out:f4[1],i4=11
extern "C" __global__ void halving_odd(const float *x, float *s, float *y, int n) {  // BUG: unread-input x
    int half = BUGGY ? n / 2 : (n + 1) / 2;
    for (int i = 0; i < half; i++) s[i] = x[i] + (i + half < n ? x[i + half] : 0);
    for (n = half; n > 1; n = half) {
        half = (n + 1) / 2;
        for (int i = 0; i + half < n; i++) s[i] += s[i + half];
    }
    y[0] = s[0];
}

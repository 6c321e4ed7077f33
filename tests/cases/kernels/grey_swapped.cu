// The host passes the grey picture where the coloured one belongs, which is three times as large.
// launch buggy: grid=2,2 block=8,8 args=u1[256],u1[768]:rand,i4=16
// launch clean: grid=2,2 block=8,8 args=u1[768]:rand,out:u1[256],i4=16
extern "C" __global__ void grey_swapped(const unsigned char *rgb, unsigned char *grey, int width) {
    int at = (blockIdx.y * 8 + threadIdx.y) * width + blockIdx.x * 8 + threadIdx.x;
    const unsigned char *p = rgb + 3 * at;
    grey[at] = 0.21f * p[0] + 0.71f * p[1] + 0.07f * p[2];  // BUG: out-of-bounds
}

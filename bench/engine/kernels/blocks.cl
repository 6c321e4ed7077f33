// The kernels of blocks.cu in OpenCL C.

__kernel void odd_even_sort(__global int *x) {
  __local int part[1024];
  int t = get_local_id(0), first = get_group_id(0) * 1024;
  part[t] = x[first + t];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int phase = 0; phase < 1024; phase++) {
    if (t % 2 == phase % 2 && t + 1 < 1024) {
      int a = part[t], b = part[t + 1];
      if (a > b) {
        part[t] = b;
        part[t + 1] = a;
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  x[first + t] = part[t];
}

__kernel void bitonic_sort(__global int *x) {
  __local int part[1024];
  int t = get_local_id(0), first = get_group_id(0) * 1024;
  part[t] = x[first + t];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = 2; k <= 1024; k *= 2)
    for (int j = k / 2; j > 0; j /= 2) {
      int other = t ^ j;
      if (other > t) {
        int a = part[t], b = part[other];
        if ((a > b) == ((t & k) == 0)) {
          part[t] = b;
          part[other] = a;
        }
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  x[first + t] = part[t];
}

__kernel void scan(__global float *out, __global const float *x) {
  __local float sums[512];
  int t = get_local_id(0), i = get_global_id(0);
  sums[t] = x[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int d = 1; d < 512; d *= 2) {
    float left = t >= d ? sums[t - d] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    sums[t] += left;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[i] = sums[t];
}

__kernel void histogram_shared(__global const uchar *x, __global uint *bins, int n) {
  __local uint part[256];
  int t = get_local_id(0);
  part[t] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) atomic_inc(&part[x[i]]);
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&bins[t], part[t]);
}

__kernel void histogram_global(__global const uchar *x, __global uint *bins, int n) {
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) atomic_inc(&bins[x[i]]);
}

__kernel void count_positive(__global const float *x, __global uint *count, int n) {
  int i = get_global_id(0);
  if (i < n && x[i] > 0.5f) atomic_inc(count);
}

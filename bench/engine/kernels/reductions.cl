// The kernels of reductions.cu in OpenCL C. PoCL's CPU driver has no shuffles: reduce_shuffle works in local
// memory, in the same steps.

__kernel void reduce_neighbored(__global double *x, __global double *partial, int n) {
  int t = get_local_id(0), size = get_local_size(0);
  __global double *part = x + get_group_id(0) * size;
  if (get_global_id(0) >= n) return;
  for (int s = 1; s < size; s *= 2) {
    if (t % (2 * s) == 0) part[t] += part[t + s];
    barrier(CLK_GLOBAL_MEM_FENCE);
  }
  if (t == 0) partial[get_group_id(0)] = part[0];
}

__kernel void reduce_interleaved(__global double *x, __global double *partial, int n) {
  int t = get_local_id(0);
  __global double *part = x + get_group_id(0) * get_local_size(0);
  if (get_global_id(0) >= n) return;
  for (int s = get_local_size(0) / 2; s > 0; s >>= 1) {
    if (t < s) part[t] += part[t + s];
    barrier(CLK_GLOBAL_MEM_FENCE);
  }
  if (t == 0) partial[get_group_id(0)] = part[0];
}

__kernel void reduce_unroll8(__global double *x, __global double *partial, int n) {
  int t = get_local_id(0), size = get_local_size(0), i = get_group_id(0) * size * 8 + t;
  __global double *part = x + get_group_id(0) * size * 8;
  if (i + 7 * size < n) {
    double sum = x[i];
    for (int k = 1; k < 8; k++) sum += x[i + k * size];
    x[i] = sum;
  }
  barrier(CLK_GLOBAL_MEM_FENCE);
  for (int s = size / 2; s > 0; s >>= 1) {
    if (t < s) part[t] += part[t + s];
    barrier(CLK_GLOBAL_MEM_FENCE);
  }
  if (t == 0) partial[get_group_id(0)] = part[0];
}

__kernel void reduce_shared_modulo(__global const double *x, __global double *partial, int n) {
  __local double sums[512];
  int t = get_local_id(0), i = get_global_id(0), size = get_local_size(0);
  sums[t] = i < n ? x[i] : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int s = 1; s < size; s *= 2) {
    if (t % (2 * s) == 0) sums[t] += sums[t + s];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) partial[get_group_id(0)] = sums[0];
}

__kernel void reduce_shared_strided(__global const double *x, __global double *partial, int n) {
  __local double sums[512];
  int t = get_local_id(0), i = get_global_id(0), size = get_local_size(0);
  sums[t] = i < n ? x[i] : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int s = 1; s < size; s *= 2) {
    int at = 2 * s * t;
    if (at < size) sums[at] += sums[at + s];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) partial[get_group_id(0)] = sums[0];
}

__kernel void reduce_shared_sequential(__global const double *x, __global double *partial, int n) {
  __local double sums[512];
  int t = get_local_id(0), i = get_global_id(0);
  sums[t] = i < n ? x[i] : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int s = get_local_size(0) / 2; s > 0; s >>= 1) {
    if (t < s) sums[t] += sums[t + s];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) partial[get_group_id(0)] = sums[0];
}

__kernel void reduce_shuffle(__global const double *x, __global double *partial, int n) {
  __local double sums[512];
  int t = get_local_id(0), i = get_global_id(0);
  sums[t] = i < n ? x[i] : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int d = 16; d > 0; d >>= 1) {
    if (t % 32 < d) sums[t] += sums[t + d];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int d = 8; d > 0; d >>= 1) {
    if (t < d) sums[32 * t] += sums[32 * (t + d)];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) partial[get_group_id(0)] = sums[0];
}

__kernel void dot_product(__global const float *x, __global const float *y, __global float *partial, int n) {
  __local float sums[256];
  int t = get_local_id(0);
  float sum = 0;
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) sum += x[i] * y[i];
  sums[t] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int s = get_local_size(0) / 2; s > 0; s >>= 1) {
    if (t < s) sums[t] += sums[t + s];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) partial[get_group_id(0)] = sums[0];
}

// The kernels of divergent.cu in OpenCL C.

// One step of a breadth-first search: who was reached in the last step marks neighbours nobody has reached.
__kernel void bfs_step(__global int *levels, __global int *found, __global const int *starts,
                       __global const int *neighbours, int level, int n) {
  int v = get_global_id(0);
  if (v >= n || levels[v] != level) return;
  for (int k = starts[v]; k < starts[v + 1]; k++) {
    int other = neighbours[k];
    if (levels[other] < 0) {
      levels[other] = level + 1;
      *found = 1;
    }
  }
}

// Open addressing: a key goes to the first free place from its hash on.
__kernel void hash_insert(__global uint *table, __global const uint *keys, unsigned mask, int n) {
  int i = get_global_id(0);
  if (i >= n) return;
  unsigned key = keys[i], at = key * 2654435761u >> 7 & mask;
  while (true) {
    unsigned before = atomic_cmpxchg(&table[at], 0u, key);
    if (before == 0 || before == key) return;
    at = (at + 1) & mask;
  }
}

__kernel void hash_probe(__global int *out, __global const uint *table, __global const uint *keys,
                         unsigned mask, int n) {
  int i = get_global_id(0);
  if (i >= n) return;
  unsigned key = keys[i], at = key * 2654435761u >> 7 & mask;
  int steps = 0;
  while (table[at] != 0 && table[at] != key) {
    at = (at + 1) & mask;
    steps++;
  }
  out[i] = table[at] == key ? steps : -1;
}

// A sparse matrix whose rows are filled up to one length: element k of all rows side by side.
__kernel void ell_spmv(__global float *y, __global const int *columns, __global const float *values,
                       __global const float *x, int width, int rows) {
  int row = get_global_id(0);
  if (row >= rows) return;
  float sum = 0;
  for (int k = 0; k < width; k++) {
    int column = columns[k * rows + row];
    if (column >= 0) sum += values[k * rows + row] * x[column];
  }
  y[row] = sum;
}

__kernel void binary_search(__global int *out, __global const int *sorted, __global const int *keys,
                            int size, int n) {
  int i = get_global_id(0);
  if (i >= n) return;
  int key = keys[i], low = 0, high = size;
  while (low < high) {
    int middle = (low + high) / 2;
    if (sorted[middle] < key) low = middle + 1;
    else high = middle;
  }
  out[i] = low;
}

// The steps that a ray takes to a field of spheres, or until it has left it.
__kernel void ray_march(__global int *out, int side, int limit) {
  int column = get_global_id(0), row = get_global_id(1);
  if (row >= side || column >= side) return;
  double x = 0, y = 0, z = 0, dx = (column + 0.5) / side - 0.5, dy = (row + 0.5) / side - 0.5;
  int k = 0;
  while (k < limit && z < 24) {
    double a = x - 4 * floor(x / 4) - 2, b = y - 4 * floor(y / 4) - 2, c = z - 4 * floor(z / 4) - 2;
    double distance = sqrt(a * a + b * b + c * c) - 1;
    if (distance < 0.001) break;
    x += distance * dx;
    y += distance * dy;
    z += distance * 0.75;
    k++;
  }
  out[row * side + column] = k;
}

// Labels that spread: those who have changed give theirs to neighbours with a greater one.
__kernel void spread_labels(__global int *labels, __global const int *changed, __global const int *starts,
                            __global const int *neighbours, int n) {
  int v = get_global_id(0);
  if (v >= n || !changed[v]) return;
  for (int k = starts[v]; k < starts[v + 1]; k++) atomic_min(&labels[neighbours[k]], v);
}

// A list of those who are over a threshold.
__kernel void compact(__global int *list, __global int *count, __global const float *x, float threshold,
                      int n) {
  int i = get_global_id(0);
  if (i >= n || x[i] <= threshold) return;
  list[atomic_add(count, 1)] = i;
}

// How much of a word stands at each place of a text.
__kernel void match_text(__global int *out, __global const uchar *text, __global const uchar *word,
                         int length, int n) {
  int i = get_global_id(0);
  if (i >= n) return;
  int k = 0;
  while (k < length && text[i + k] == word[k]) k++;
  out[i] = k;
}

// Square distances to the four nearest of some points, kept in order by insertion.
__kernel void nearest(__global float *out, __global const float *x, __global const float *points, int count,
                      int n) {
  int i = get_global_id(0);
  if (i >= n) return;
  float a = 1e30f, b = 1e30f, c = 1e30f, d = 1e30f, own = x[i];
  for (int k = 0; k < count; k++) {
    float away = points[k] - own, far = away * away;
    if (far < d) {
      if (far < a) { d = c; c = b; b = a; a = far; }
      else if (far < b) { d = c; c = b; b = far; }
      else if (far < c) { d = c; c = far; }
      else d = far;
    }
  }
  out[i] = a + b + c + d;
}

// Walks over a graph, each until it comes to a dead end.
__kernel void random_walk(__global int *out, __global const int *starts, __global const int *neighbours,
                          int steps, int n) {
  int i = get_global_id(0);
  if (i >= n) return;
  unsigned state = i * 747796405u + 1u;
  int at = i, k = 0;
  for (; k < steps; k++) {
    int first = starts[at], degree = starts[at + 1] - first;
    if (degree == 0) break;
    state = state * 1664525u + 1013904223u;
    at = neighbours[first + (state >> 8) % degree];
  }
  out[i] = at;
}

__kernel void find_roots(__global int *out, __global const int *parents, int n) {
  int i = get_global_id(0);
  if (i >= n) return;
  int at = i;
  while (parents[at] != at) at = parents[at];
  out[i] = at;
}

__kernel void divisors(__global int *out, __global const int *a, __global const int *b, int n) {
  int i = get_global_id(0);
  if (i >= n) return;
  unsigned x = a[i], y = b[i];
  while (y != 0) {
    unsigned rest = x % y;
    x = y;
    y = rest;
  }
  out[i] = x;
}

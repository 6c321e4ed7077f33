// The kernels of graphs.cu in OpenCL C.

#define LOCAL 1024

// One step of a breadth-first search by queues: those found are collected in local memory, then appended.
__kernel void bfs_queue(__global const int *starts, __global const int *edges, __global int *levels, __global const int *frontier, __global int *next,
                                     __global int *size, int level, int n) {
  __local int found[LOCAL];
  __local int count, base;
  int t = get_local_id(0), i = get_group_id(0) * get_local_size(0) + t;
  if (t == 0) count = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < n) {
    int v = frontier[i];
    for (int k = starts[v]; k < starts[v + 1]; k++) {
      int w = edges[k];
      if (levels[w] == -1 && atomic_cmpxchg(&levels[w], -1, level + 1) == -1) {
        int at = atomic_add(&count, 1);
        if (at < LOCAL) found[at] = w;
        else next[atomic_add(size, 1)] = w;
      }
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  int mine = min(count, LOCAL);
  if (t == 0) base = atomic_add(size, mine);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int at = t; at < mine; at += get_local_size(0)) next[base + at] = found[at];
}

// Shortest paths, a round of relaxations: vertices that have changed offer their neighbours shorter ways.
__kernel void sssp_relax(__global const int *starts, __global const int *edges, __global const int *weights, __global const int *active,
                                      __global const int *distance, __global int *shorter, __global int *changed, int n) {
  int v = get_global_id(0);
  if (v >= n || !active[v]) return;
  int own = distance[v];
  for (int k = starts[v]; k < starts[v + 1]; k++) {
    int w = edges[k], way = own + weights[k];
    if (way < atomic_min(&shorter[w], way)) changed[w] = 1;
  }
}

// A round of PageRank: each vertex pulls from those that point to it.
__kernel void pagerank_pull(__global const int *starts, __global const int *sources, __global const int *degrees, __global const float *rank,
                                         __global float *next, float damping, int n) {
  int v = get_global_id(0);
  if (v >= n) return;
  float sum = 0.0f;
  for (int k = starts[v]; k < starts[v + 1]; k++) {
    int u = sources[k];
    sum += rank[u] / degrees[u];
  }
  next[v] = (1.0f - damping) / n + damping * sum;
}

// Joins the trees of an edge's ends, the greater root under the smaller; counts the edges of a spanning forest.
__kernel void union_find(__global int *parents, __global const int *from, __global const int *to, __global int *joined, int m) {
  int e = get_global_id(0);
  if (e >= m) return;
  int a = from[e], b = to[e];
  while (true) {
    while (parents[a] != a) {
      int above = parents[parents[a]];
      parents[a] = above;
      a = above;
    }
    while (parents[b] != b) {
      int above = parents[parents[b]];
      parents[b] = above;
      b = above;
    }
    if (a == b) return;
    int high = max(a, b), low = min(a, b);
    if (atomic_cmpxchg(&parents[high], high, low) == high) {
      atomic_add(joined, 1);
      return;
    }
  }
}

// Triangles: an edge a thread, its ends' sorted lists of greater neighbours are intersected.
__kernel void triangle_count(__global const int *starts, __global const int *edges, __global const int *from, __global uint *total, int m) {
  __local unsigned part[128];
  int t = get_local_id(0), e = get_group_id(0) * get_local_size(0) + t;
  unsigned count = 0;
  if (e < m) {
    int u = from[e], v = edges[e];
    int i = starts[u], j = starts[v], iend = starts[u + 1], jend = starts[v + 1];
    while (i < iend && j < jend) {
      int a = edges[i], b = edges[j];
      if (a == b) {
        count++;
        i++;
        j++;
      } else if (a < b) i++;
      else j++;
    }
  }
  part[t] = count;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int d = 64; d > 0; d >>= 1) {
    if (t < d) part[t] += part[t + d];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) atomic_add(total, part[0]);
}

#define FAN 64

// A block a query: on every level of a B+ tree, each thread looks at one key of the node.
__kernel void btree_search(__global const int *keys, __global const int *children, __global const int *values, __global const int *queries,
                                        __global int *answers, int height) {
  __local int node;
  int t = get_local_id(0), q = get_group_id(0), key = queries[q];
  if (t == 0) {
    node = 0;
    answers[q] = -1;
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int level = 1; level < height; level++) {
    int here = node;
    barrier(CLK_LOCAL_MEM_FENCE);
    int low = keys[here * FAN + t], high = t + 1 < FAN ? keys[here * FAN + t + 1] : 0x7fffffff;
    if (low <= key && key < high) node = children[here * FAN + t];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  int leaf = node;
  if (keys[leaf * FAN + t] == key) answers[q] = values[leaf * FAN + t];
}

#define WORK 8
#define SPAN (128 * WORK)

// How many of the first `diagonal` elements of the merged list come from a.
int merge_path(__global const int *a, int na, __global const int *b, int nb, int diagonal) {
  int low = max(0, diagonal - nb), high = min(diagonal, na);
  while (low < high) {
    int middle = (low + high) >> 1;
    if (a[middle] <= b[diagonal - 1 - middle]) low = middle + 1;
    else high = middle;
  }
  return low;
}

int merge_path_shared(__local const int *a, int na, __local const int *b, int nb, int diagonal) {
  int low = max(0, diagonal - nb), high = min(diagonal, na);
  while (low < high) {
    int middle = (low + high) >> 1;
    if (a[middle] <= b[diagonal - 1 - middle]) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Merges two sorted lists: a block finds its part of both, each thread merges eight elements in local memory.
__kernel void merge_lists(__global const int *a, __global const int *b, __global int *out, int na, int nb) {
  __local int staged[SPAN];
  __local int bounds[2];
  int t = get_local_id(0), first = get_group_id(0) * SPAN, last = min(first + SPAN, na + nb);
  if (t < 2) bounds[t] = merge_path(a, na, b, nb, t == 0 ? first : last);
  barrier(CLK_LOCAL_MEM_FENCE);
  int a0 = bounds[0], a1 = bounds[1], b0 = first - a0, b1 = last - a1;
  int ca = a1 - a0, cb = b1 - b0;
  for (int s = t; s < ca + cb; s += get_local_size(0)) staged[s] = s < ca ? a[a0 + s] : b[b0 + s - ca];
  barrier(CLK_LOCAL_MEM_FENCE);
  int diagonal = min(t * WORK, ca + cb);
  int i = merge_path_shared(staged, ca, staged + ca, cb, diagonal);
  int j = diagonal - i;
  int merged[WORK];
#pragma unroll
  for (int k = 0; k < WORK; k++) {
    bool left = j >= cb || (i < ca && staged[i] <= staged[ca + j]);
    if (i < ca || j < cb) merged[k] = left ? staged[i++] : staged[ca + j++];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (int k = 0; k < WORK; k++)
    if (t * WORK + k < ca + cb) staged[t * WORK + k] = merged[k];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int s = t; s < ca + cb; s += get_local_size(0)) out[first + s] = staged[s];
}

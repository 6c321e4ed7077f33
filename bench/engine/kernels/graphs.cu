// Graphs, trees and sorted lists.

#define LOCAL 1024

// One step of a breadth-first search by queues: those found are collected in shared memory, then appended.
extern "C" __global__ void bfs_queue(const int *starts, const int *edges, int *levels, const int *frontier, int *next,
                                     int *size, int level, int n) {
  __shared__ int found[LOCAL];
  __shared__ int count, base;
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  if (t == 0) count = 0;
  __syncthreads();
  if (i < n) {
    int v = frontier[i];
    for (int k = starts[v]; k < starts[v + 1]; k++) {
      int w = edges[k];
      if (levels[w] == -1 && atomicCAS(&levels[w], -1, level + 1) == -1) {
        int at = atomicAdd(&count, 1);
        if (at < LOCAL) found[at] = w;
        else next[atomicAdd(size, 1)] = w;
      }
    }
  }
  __syncthreads();
  int mine = min(count, LOCAL);
  if (t == 0) base = atomicAdd(size, mine);
  __syncthreads();
  for (int at = t; at < mine; at += blockDim.x) next[base + at] = found[at];
}

// Shortest paths, a round of relaxations: vertices that have changed offer their neighbours shorter ways.
extern "C" __global__ void sssp_relax(const int *starts, const int *edges, const int *weights, const int *active,
                                      const int *distance, int *shorter, int *changed, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || !active[v]) return;
  int own = distance[v];
  for (int k = starts[v]; k < starts[v + 1]; k++) {
    int w = edges[k], way = own + weights[k];
    if (way < atomicMin(&shorter[w], way)) changed[w] = 1;
  }
}

// A round of PageRank: each vertex pulls from those that point to it.
extern "C" __global__ void pagerank_pull(const int *starts, const int *sources, const int *degrees, const float *rank,
                                         float *next, float damping, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  float sum = 0.0f;
  for (int k = starts[v]; k < starts[v + 1]; k++) {
    int u = sources[k];
    sum += rank[u] / degrees[u];
  }
  next[v] = (1.0f - damping) / n + damping * sum;
}

// Joins the trees of an edge's ends, the greater root under the smaller; counts the edges of a spanning forest.
extern "C" __global__ void union_find(int *parents, const int *from, const int *to, int *joined, int m) {
  int e = blockIdx.x * blockDim.x + threadIdx.x;
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
    if (atomicCAS(&parents[high], high, low) == high) {
      atomicAdd(joined, 1);
      return;
    }
  }
}

// Triangles: an edge a thread, its ends' sorted lists of greater neighbours are intersected.
extern "C" __global__ void triangle_count(const int *starts, const int *edges, const int *from, unsigned *total, int m) {
  __shared__ unsigned part[128];
  int t = threadIdx.x, e = blockIdx.x * blockDim.x + t;
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
  __syncthreads();
  for (int d = 64; d > 0; d >>= 1) {
    if (t < d) part[t] += part[t + d];
    __syncthreads();
  }
  if (t == 0) atomicAdd(total, part[0]);
}

#define FAN 64

// A block a query: on every level of a B+ tree, each thread looks at one key of the node.
extern "C" __global__ void btree_search(const int *keys, const int *children, const int *values, const int *queries,
                                        int *answers, int height) {
  __shared__ int node;
  int t = threadIdx.x, q = blockIdx.x, key = queries[q];
  if (t == 0) {
    node = 0;
    answers[q] = -1;
  }
  __syncthreads();
  for (int level = 1; level < height; level++) {
    int here = node;
    __syncthreads();
    int low = keys[here * FAN + t], high = t + 1 < FAN ? keys[here * FAN + t + 1] : 0x7fffffff;
    if (low <= key && key < high) node = children[here * FAN + t];
    __syncthreads();
  }
  int leaf = node;
  if (keys[leaf * FAN + t] == key) answers[q] = values[leaf * FAN + t];
}

#define WORK 8
#define SPAN (128 * WORK)

// How many of the first `diagonal` elements of the merged list come from a.
__device__ int merge_path(const int *a, int na, const int *b, int nb, int diagonal) {
  int low = max(0, diagonal - nb), high = min(diagonal, na);
  while (low < high) {
    int middle = (low + high) >> 1;
    if (a[middle] <= b[diagonal - 1 - middle]) low = middle + 1;
    else high = middle;
  }
  return low;
}

__device__ int merge_path_shared(const int *a, int na, const int *b, int nb, int diagonal) {
  int low = max(0, diagonal - nb), high = min(diagonal, na);
  while (low < high) {
    int middle = (low + high) >> 1;
    if (a[middle] <= b[diagonal - 1 - middle]) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Merges two sorted lists: a block finds its part of both, each thread merges eight elements in shared memory.
extern "C" __global__ void merge_lists(const int *a, const int *b, int *out, int na, int nb) {
  __shared__ int staged[SPAN];
  __shared__ int bounds[2];
  int t = threadIdx.x, first = blockIdx.x * SPAN, last = min(first + SPAN, na + nb);
  if (t < 2) bounds[t] = merge_path(a, na, b, nb, t == 0 ? first : last);
  __syncthreads();
  int a0 = bounds[0], a1 = bounds[1], b0 = first - a0, b1 = last - a1;
  int ca = a1 - a0, cb = b1 - b0;
  for (int s = t; s < ca + cb; s += blockDim.x) staged[s] = s < ca ? a[a0 + s] : b[b0 + s - ca];
  __syncthreads();
  int diagonal = min(t * WORK, ca + cb);
  int i = merge_path_shared(staged, ca, staged + ca, cb, diagonal);
  int j = diagonal - i;
  int merged[WORK];
#pragma unroll
  for (int k = 0; k < WORK; k++) {
    bool left = j >= cb || (i < ca && staged[i] <= staged[ca + j]);
    if (i < ca || j < cb) merged[k] = left ? staged[i++] : staged[ca + j++];
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < WORK; k++)
    if (t * WORK + k < ca + cb) staged[t * WORK + k] = merged[k];
  __syncthreads();
  for (int s = t; s < ca + cb; s += blockDim.x) out[first + s] = staged[s];
}

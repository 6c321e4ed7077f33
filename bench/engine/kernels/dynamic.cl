// The kernels of dynamic.cu in OpenCL C.

#define TILE 32
#define QUERY 128
#define LETTERS 24
#define WIDTH 24
#define CAPACITY 1024
#define STATES 64

__kernel void needleman_tile(__global int *score, __global const int *similarity, int side, int tiles,
                             int penalty) {
  __local int cell[TILE + 1][TILE + 1];
  __local int alike[TILE][TILE];
  int t = get_local_id(0), bx = get_group_id(0), by = tiles - 1 - bx;
  int corner = get_group_id(1) * side * side + by * TILE * side + bx * TILE;

  for (int r = 0; r < TILE; r++) alike[r][t] = similarity[corner + (r + 1) * side + t + 1];
  if (t == 0) cell[0][0] = score[corner];
  cell[0][t + 1] = score[corner + t + 1];
  cell[t + 1][0] = score[corner + (t + 1) * side];
  barrier(CLK_LOCAL_MEM_FENCE);

  for (int m = 0; m < TILE; m++) {
    if (t <= m) {
      int x = t + 1, y = m - t + 1;
      int match = cell[y - 1][x - 1] + alike[y - 1][x - 1];
      cell[y][x] = max(match, max(cell[y][x - 1] - penalty, cell[y - 1][x] - penalty));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int m = TILE - 2; m >= 0; m--) {
    if (t <= m) {
      int x = t + TILE - m, y = TILE - t;
      int match = cell[y - 1][x - 1] + alike[y - 1][x - 1];
      cell[y][x] = max(match, max(cell[y][x - 1] - penalty, cell[y - 1][x] - penalty));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int r = 0; r < TILE; r++) score[corner + (r + 1) * side + t + 1] = cell[r + 1][t + 1];
}

__kernel void smith_waterman(__global int *best, __global const uchar *queries, __global const uchar *subjects,
                             __global const int *matrix, int length, int open, int extend) {
  __local int points[LETTERS * LETTERS];
  __local int scores[2][QUERY];
  __local int gaps[2][QUERY];
  int t = get_local_id(0);
  for (int i = t; i < LETTERS * LETTERS; i += QUERY) points[i] = matrix[i];
  int mine = queries[get_group_id(0) * QUERY + t] * LETTERS;
  __global const uchar *subject = subjects + get_group_id(0) * length;
  scores[0][t] = 0;
  scores[1][t] = 0;
  gaps[0][t] = -10000;
  gaps[1][t] = -10000;
  barrier(CLK_LOCAL_MEM_FENCE);

  int up = 0, diagonal = 0, down = -10000, top = 0;
  for (int step = 0; step < length + QUERY - 1; step++) {
    int from = step & 1, to = from ^ 1, row = step - t;
    if (row >= 0 && row < length) {
      int left = 0, across = -10000;
      if (t > 0) {
        left = scores[from][t - 1];
        across = gaps[from][t - 1];
      }
      across = max(across - extend, left - open);
      down = max(down - extend, up - open);
      int h = max(max(0, diagonal + points[mine + subject[row]]), max(across, down));
      scores[to][t] = h;
      gaps[to][t] = across;
      diagonal = left;
      up = h;
      top = max(top, h);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }

  scores[0][t] = top;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int half_ = QUERY / 2; half_ > 0; half_ >>= 1) {
    if (t < half_) scores[0][t] = max(scores[0][t], scores[0][t + half_]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) best[get_group_id(0)] = scores[0][0];
}

__kernel void lcs_diagonal(__global int *now, __global const int *before, __global const int *earlier,
                           __global const uchar *a, __global const uchar *b, int d, int n, int m) {
  int i = get_global_id(0);
  int j = d - i;
  if (i > n || j < 0 || j > m) return;
  if (i == 0 || j == 0) {
    now[i] = 0;
  } else if (a[i - 1] == b[j - 1]) {
    now[i] = earlier[i - 1] + 1;
  } else {
    now[i] = max(before[i - 1], before[i]);
  }
}

__kernel void edit_words(__global int *out, __global const char *left, __global const int *left_lengths,
                         __global const char *right, __global const int *right_lengths, int n) {
  int pair = get_global_id(0);
  if (pair >= n) return;
  __global const char *a = left + pair * WIDTH, *b = right + pair * WIDTH;
  int la = left_lengths[pair], lb = right_lengths[pair];
  int row[WIDTH + 1];
  for (int j = 0; j <= lb; j++) row[j] = j;
  for (int i = 1; i <= la; i++) {
    int corner = row[0];
    row[0] = i;
    for (int j = 1; j <= lb; j++) {
      int above = row[j];
      int cost = corner + (a[i - 1] != b[j - 1]);
      row[j] = min(cost, min(above, row[j - 1]) + 1);
      corner = above;
    }
  }
  out[pair] = row[lb];
}

__kernel void knapsack(__global int *out, __global const int *weights, __global const int *values, int items) {
  __local int best[2][CAPACITY];
  int t = get_local_id(0), now = 0;
  for (int c = t; c < CAPACITY; c += get_local_size(0)) best[0][c] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = 0; k < items; k++) {
    int weight = weights[get_group_id(0) * items + k], value = values[get_group_id(0) * items + k];
    for (int c = t; c < CAPACITY; c += get_local_size(0)) {
      int with = best[now][c];
      if (c >= weight) with = max(with, best[now][c - weight] + value);
      best[1 - now][c] = with;
    }
    now = 1 - now;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int c = t; c < CAPACITY; c += get_local_size(0)) out[get_group_id(0) * CAPACITY + c] = best[now][c];
}

__kernel void viterbi(__global int *paths, __global uchar *back, __global const float *first,
                      __global const float *moves, __global const float *emits, __global const int *seen,
                      int length) {
  __local float chance[2][STATES];
  int t = get_local_id(0), s = get_group_id(0);
  __global const int *mine = seen + s * length;
  __global uchar *from = back + s * length * STATES;
  chance[0][t] = first[t] + emits[mine[0] * STATES + t];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = 1; k < length; k++) {
    __local const float *old = chance[(k - 1) & 1];
    float best = old[0] + moves[t];
    int which = 0;
    for (int j = 1; j < STATES; j++) {
      float here = old[j] + moves[j * STATES + t];
      if (here > best) {
        best = here;
        which = j;
      }
    }
    chance[k & 1][t] = best + emits[mine[k] * STATES + t];
    from[k * STATES + t] = which;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  }
  if (t == 0) {
    __local const float *last = chance[(length - 1) & 1];
    int at = 0;
    for (int j = 1; j < STATES; j++)
      if (last[j] > last[at]) at = j;
    for (int k = length - 1; k > 0; k--) {
      paths[s * length + k] = at;
      at = from[k * STATES + at];
    }
    paths[s * length] = at;
  }
}

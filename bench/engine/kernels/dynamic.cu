// Dynamic programming: alignments of sequences, distances of words, knapsacks, hidden states.

#define TILE 32
#define QUERY 128
#define LETTERS 24
#define WIDTH 24
#define CAPACITY 1024
#define STATES 64

// Global alignment: the tiles on one antidiagonal of a matrix of scores, each by one warp whose threads run down
// the tile's own antidiagonals.
extern "C" __global__ void needleman_tile(int *score, const int *similarity, int side, int tiles, int penalty) {
  __shared__ int cell[TILE + 1][TILE + 1];
  __shared__ int alike[TILE][TILE];
  int t = threadIdx.x, bx = blockIdx.x, by = tiles - 1 - bx;
  int corner = blockIdx.y * side * side + by * TILE * side + bx * TILE;

  for (int r = 0; r < TILE; r++) alike[r][t] = similarity[corner + (r + 1) * side + t + 1];
  if (t == 0) cell[0][0] = score[corner];
  cell[0][t + 1] = score[corner + t + 1];
  cell[t + 1][0] = score[corner + (t + 1) * side];
  __syncthreads();

  for (int m = 0; m < TILE; m++) {
    if (t <= m) {
      int x = t + 1, y = m - t + 1;
      int match = cell[y - 1][x - 1] + alike[y - 1][x - 1];
      cell[y][x] = max(match, max(cell[y][x - 1] - penalty, cell[y - 1][x] - penalty));
    }
    __syncthreads();
  }
  for (int m = TILE - 2; m >= 0; m--) {
    if (t <= m) {
      int x = t + TILE - m, y = TILE - t;
      int match = cell[y - 1][x - 1] + alike[y - 1][x - 1];
      cell[y][x] = max(match, max(cell[y][x - 1] - penalty, cell[y - 1][x] - penalty));
    }
    __syncthreads();
  }
  for (int r = 0; r < TILE; r++) score[corner + (r + 1) * side + t + 1] = cell[r + 1][t + 1];
}

// Local alignment with affine gaps: a pair per block, a letter of the query per thread; what the left neighbour
// found in the step before comes through shared memory.
extern "C" __global__ void smith_waterman(int *best, const unsigned char *queries, const unsigned char *subjects,
                                          const int *matrix, int length, int open, int extend) {
  __shared__ int points[LETTERS * LETTERS];
  __shared__ int scores[2][QUERY];
  __shared__ int gaps[2][QUERY];
  int t = threadIdx.x;
  for (int i = t; i < LETTERS * LETTERS; i += QUERY) points[i] = matrix[i];
  int mine = queries[blockIdx.x * QUERY + t] * LETTERS;
  const unsigned char *subject = subjects + blockIdx.x * length;
  scores[0][t] = 0;
  scores[1][t] = 0;
  gaps[0][t] = -10000;
  gaps[1][t] = -10000;
  __syncthreads();

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
    __syncthreads();
  }

  scores[0][t] = top;
  __syncthreads();
  for (int half = QUERY / 2; half > 0; half >>= 1) {
    if (t < half) scores[0][t] = max(scores[0][t], scores[0][t + half]);
    __syncthreads();
  }
  if (t == 0) best[blockIdx.x] = scores[0][0];
}

// Longest common subsequence: one antidiagonal of the table from the two before it.
extern "C" __global__ void lcs_diagonal(int *now, const int *before, const int *earlier, const unsigned char *a,
                                        const unsigned char *b, int d, int n, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
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

// Levenshtein's distance of two words per thread, with one row of the table in local memory.
extern "C" __global__ void edit_words(int *out, const char *left, const int *left_lengths, const char *right,
                                      const int *right_lengths, int n) {
  int pair = blockIdx.x * blockDim.x + threadIdx.x;
  if (pair >= n) return;
  const char *a = left + pair * WIDTH, *b = right + pair * WIDTH;
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

// A knapsack per block: the best value for every capacity, item after item.
extern "C" __global__ void knapsack(int *out, const int *weights, const int *values, int items) {
  __shared__ int best[2][CAPACITY];
  int t = threadIdx.x, now = 0;
  for (int c = t; c < CAPACITY; c += blockDim.x) best[0][c] = 0;
  __syncthreads();
  for (int k = 0; k < items; k++) {
    int weight = weights[blockIdx.x * items + k], value = values[blockIdx.x * items + k];
    for (int c = t; c < CAPACITY; c += blockDim.x) {
      int with = best[now][c];
      if (c >= weight) with = max(with, best[now][c - weight] + value);
      best[1 - now][c] = with;
    }
    now = 1 - now;
    __syncthreads();
  }
  for (int c = t; c < CAPACITY; c += blockDim.x) out[blockIdx.x * CAPACITY + c] = best[now][c];
}

// The likeliest hidden states behind a sequence of observations: a sequence per block, a state per thread.
extern "C" __global__ void viterbi(int *paths, unsigned char *back, const float *first, const float *moves,
                                   const float *emits, const int *seen, int length) {
  __shared__ float chance[2][STATES];
  int t = threadIdx.x, s = blockIdx.x;
  const int *mine = seen + s * length;
  unsigned char *from = back + s * length * STATES;
  chance[0][t] = first[t] + emits[mine[0] * STATES + t];
  __syncthreads();
  for (int k = 1; k < length; k++) {
    const float *old = chance[(k - 1) & 1];
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
    __syncthreads();
  }
  if (t == 0) {
    const float *last = chance[(length - 1) & 1];
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

// Bytes of texts: matching many patterns at once, encodings, checksums, distances by bits.

#define SPAN 256
#define TAIL 16
#define CHUNK 512
#define ALPHABET 32

__constant__ char DIGITS[65] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// Many patterns at once, an automaton without failure links: every thread starts it at a place of its own and
// keeps the last pattern that ended. The block's part of the text, and what follows it, lies in shared memory.
extern "C" __global__ void match_patterns(int *found, const unsigned char *text, const short *next,
                                          const short *ends, int n) {
  __shared__ unsigned char part[SPAN + TAIL];
  int t = threadIdx.x, start = blockIdx.x * SPAN;
  part[t] = start + t < n ? text[start + t] : 0;
  if (t < TAIL) part[SPAN + t] = start + SPAN + t < n ? text[start + SPAN + t] : 0;
  __syncthreads();
  int state = 0, which = -1;
  for (int k = t; k < SPAN + TAIL; k++) {
    state = next[state * ALPHABET + (part[k] & (ALPHABET - 1))];
    if (state < 0) break;
    if (ends[state] >= 0) which = ends[state];
  }
  if (start + t < n) found[start + t] = which;
}

// Base64: three bytes in, four characters out.
extern "C" __global__ void base64_encode(uchar4 *out, const unsigned char *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (3 * i >= n) return;
  int left = n - 3 * i;
  unsigned a = in[3 * i], b = left > 1 ? in[3 * i + 1] : 0, c = left > 2 ? in[3 * i + 2] : 0;
  unsigned bits = a << 16 | b << 8 | c;
  uchar4 four;
  four.x = DIGITS[bits >> 18];
  four.y = DIGITS[bits >> 12 & 63];
  four.z = left > 1 ? DIGITS[bits >> 6 & 63] : '=';
  four.w = left > 2 ? DIGITS[bits & 63] : '=';
  out[i] = four;
}

// UTF-8: the code point that starts at each byte, -1 for a byte that continues one and -2 where one is broken.
extern "C" __global__ void utf8_decode(int *points, unsigned *faults, const unsigned char *text, int n) {
  __shared__ unsigned bad;
  if (threadIdx.x == 0) bad = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int lead = text[i], point = -2;
    if (lead < 0x80) {
      point = lead;
    } else if (lead < 0xc0) {
      point = -1;
    } else if (lead < 0xf8) {
      int more = lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
      int value = lead & (0x3f >> more), good = i + more < n;
      for (int k = 1; good && k <= more; k++) {
        int byte = text[i + k];
        if ((byte & 0xc0) != 0x80) good = 0;
        value = value << 6 | (byte & 0x3f);
      }
      if (more == 1 && value < 0x80) good = 0;
      if (more == 2 && (value < 0x800 || (value >= 0xd800 && value < 0xe000))) good = 0;
      if (more == 3 && (value < 0x10000 || value > 0x10ffff)) good = 0;
      if (good) point = value;
    }
    points[i] = point;
    if (point == -2) atomicAdd(&bad, 1u);
  }
  __syncthreads();
  if (threadIdx.x == 0) faults[blockIdx.x] = bad;
}

// CRC-32 of a chunk per thread, with the table in shared memory.
extern "C" __global__ void crc32_chunks(unsigned *out, const unsigned char *data, const unsigned *table, int n) {
  __shared__ unsigned steps[256];
  for (int k = threadIdx.x; k < 256; k += blockDim.x) steps[k] = table[k];
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned char *mine = data + i * CHUNK;
  unsigned crc = 0xffffffffu;
  for (int k = 0; k < CHUNK; k++) crc = crc >> 8 ^ steps[(crc ^ mine[k]) & 255];
  out[i] = ~crc;
}

// Levenshtein's distance of one pattern to a text per thread, a whole column of the table in two words
// (Myers, Hyyro). Texts lie interleaved.
extern "C" __global__ void edit_bits(int *out, const unsigned long long *masks, const unsigned char *texts,
                                     const int *lengths, int pattern, int n) {
  __shared__ unsigned long long here[ALPHABET];
  if (threadIdx.x < ALPHABET) here[threadIdx.x] = masks[threadIdx.x];
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned long long up = ~0ull, down = 0, last = 1ull << (pattern - 1);
  int score = pattern, length = lengths[i];
  for (int k = 0; k < length; k++) {
    unsigned long long same = here[texts[k * n + i]];
    unsigned long long vertical = same | down;
    unsigned long long across = (((same & up) + up) ^ up) | same;
    unsigned long long more = down | ~(across | up), less = up & across;
    if (more & last) score++;
    if (less & last) score--;
    more = more << 1 | 1;
    less = less << 1;
    up = less | ~(vertical | more);
    down = more & vertical;
  }
  out[i] = score;
}

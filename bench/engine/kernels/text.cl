// The kernels of text.cu in OpenCL C.

#define SPAN 256
#define TAIL 16
#define CHUNK 512
#define ALPHABET 32

__constant char DIGITS[65] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

__kernel void match_patterns(__global int *found, __global const uchar *text, __global const short *next,
                             __global const short *ends, int n) {
  __local uchar part[SPAN + TAIL];
  int t = get_local_id(0), start = get_group_id(0) * SPAN;
  part[t] = start + t < n ? text[start + t] : 0;
  if (t < TAIL) part[SPAN + t] = start + SPAN + t < n ? text[start + SPAN + t] : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  int state = 0, which = -1;
  for (int k = t; k < SPAN + TAIL; k++) {
    state = next[state * ALPHABET + (part[k] & (ALPHABET - 1))];
    if (state < 0) break;
    if (ends[state] >= 0) which = ends[state];
  }
  if (start + t < n) found[start + t] = which;
}

__kernel void base64_encode(__global uchar4 *out, __global const uchar *in, int n) {
  int i = get_global_id(0);
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

__kernel void utf8_decode(__global int *points, __global uint *faults, __global const uchar *text, int n) {
  __local uint bad;
  if (get_local_id(0) == 0) bad = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  int i = get_global_id(0);
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
    if (point == -2) atomic_add(&bad, 1u);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0) faults[get_group_id(0)] = bad;
}

__kernel void crc32_chunks(__global uint *out, __global const uchar *data, __global const uint *table, int n) {
  __local uint steps[256];
  for (int k = get_local_id(0); k < 256; k += get_local_size(0)) steps[k] = table[k];
  barrier(CLK_LOCAL_MEM_FENCE);
  int i = get_global_id(0);
  if (i >= n) return;
  __global const uchar *mine = data + i * CHUNK;
  uint crc = 0xffffffffu;
  for (int k = 0; k < CHUNK; k++) crc = crc >> 8 ^ steps[(crc ^ mine[k]) & 255];
  out[i] = ~crc;
}

__kernel void edit_bits(__global int *out, __global const ulong *masks, __global const uchar *texts,
                        __global const int *lengths, int pattern, int n) {
  __local ulong here[ALPHABET];
  if (get_local_id(0) < ALPHABET) here[get_local_id(0)] = masks[get_local_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  int i = get_global_id(0);
  if (i >= n) return;
  ulong up = ~0ul, down = 0, last = 1ul << (pattern - 1);
  int score = pattern, length = lengths[i];
  for (int k = 0; k < length; k++) {
    ulong same = here[texts[k * n + i]];
    ulong vertical = same | down;
    ulong across = (((same & up) + up) ^ up) | same;
    ulong more = down | ~(across | up), less = up & across;
    if (more & last) score++;
    if (less & last) score--;
    more = more << 1 | 1;
    less = less << 1;
    up = less | ~(vertical | more);
    down = more & vertical;
  }
  out[i] = score;
}

// The kernels of images.cu in OpenCL C.

#define RADIUS 8
#define BX 16
#define BY 8
#define STEPS 4
#define SIDE 16

__constant float GAUSS[17] = {
    0.00381553f, 0.00877944f, 0.01807690f, 0.03330628f, 0.05491277f, 0.08101504f, 0.10695547f, 0.12635296f,
    0.13357122f, 0.12635296f, 0.10695547f, 0.08101504f, 0.05491277f, 0.03330628f, 0.01807690f, 0.00877944f,
    0.00381553f};
__constant float NEAR[9] = {
    1.00000000f, 0.80073740f, 0.64118039f, 0.51341712f, 0.41111229f, 0.32919299f, 0.26359714f, 0.21107209f,
    0.16901332f};
__constant float COSINES[64] = {
    0.35355339f, 0.35355339f, 0.35355339f, 0.35355339f, 0.35355339f, 0.35355339f, 0.35355339f, 0.35355339f,
    0.49039264f, 0.41573481f, 0.27778512f, 0.09754516f, -0.09754516f, -0.27778512f, -0.41573481f, -0.49039264f,
    0.46193977f, 0.19134172f, -0.19134172f, -0.46193977f, -0.46193977f, -0.19134172f, 0.19134172f, 0.46193977f,
    0.41573481f, -0.09754516f, -0.49039264f, -0.27778512f, 0.27778512f, 0.49039264f, 0.09754516f, -0.41573481f,
    0.35355339f, -0.35355339f, -0.35355339f, 0.35355339f, 0.35355339f, -0.35355339f, -0.35355339f, 0.35355339f,
    0.27778512f, -0.49039264f, 0.09754516f, 0.41573481f, -0.41573481f, -0.09754516f, 0.49039264f, -0.27778512f,
    0.19134172f, -0.46193977f, 0.46193977f, -0.19134172f, -0.19134172f, 0.46193977f, -0.46193977f, 0.19134172f,
    0.09754516f, -0.27778512f, 0.41573481f, -0.49039264f, 0.49039264f, -0.41573481f, 0.27778512f, -0.09754516f};
__constant short STEPS_OF[64] = {
    16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57, 69, 56,
    14, 17, 22, 29, 51, 87, 80, 62, 18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92,
    49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99};

__kernel void gauss_rows(__global float *out, __global const float *in, int width, int pitch) {
  __local float tile[BY][(STEPS + 2) * BX];
  int tx = get_local_id(0), ty = get_local_id(1);
  int x = ((int)get_group_id(0) * STEPS - 1) * BX + tx, y = (int)get_group_id(1) * BY + ty;
  __global const float *from = in + y * pitch;
  __global float *to = out + y * pitch;

#pragma unroll
  for (int s = 1; s <= STEPS; s++) tile[ty][tx + s * BX] = from[x + s * BX];
  tile[ty][tx] = x >= 0 ? from[x] : 0;
  tile[ty][tx + (STEPS + 1) * BX] = x + (STEPS + 1) * BX < width ? from[x + (STEPS + 1) * BX] : 0;
  barrier(CLK_LOCAL_MEM_FENCE);

#pragma unroll
  for (int s = 1; s <= STEPS; s++) {
    float sum = 0;
#pragma unroll
    for (int k = -RADIUS; k <= RADIUS; k++) sum += GAUSS[RADIUS - k] * tile[ty][tx + s * BX + k];
    to[x + s * BX] = sum;
  }
}

void order(int *a, int *b) {
  int low = min(*a, *b);
  *b = max(*a, *b);
  *a = low;
}

__kernel void median_3x3(__global uchar *out, __global const uchar *in, int width, int height) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height) return;
  int p[9];
  for (int k = 0; k < 9; k++) {
    int column = min(max(x + k % 3 - 1, 0), width - 1), row = min(max(y + k / 3 - 1, 0), height - 1);
    p[k] = in[row * width + column];
  }
  order(&p[1], &p[2]); order(&p[4], &p[5]); order(&p[7], &p[8]);
  order(&p[0], &p[1]); order(&p[3], &p[4]); order(&p[6], &p[7]);
  order(&p[1], &p[2]); order(&p[4], &p[5]); order(&p[7], &p[8]);
  order(&p[0], &p[3]); order(&p[5], &p[8]); order(&p[4], &p[7]);
  order(&p[3], &p[6]); order(&p[1], &p[4]); order(&p[2], &p[5]);
  order(&p[4], &p[7]); order(&p[4], &p[2]); order(&p[6], &p[4]);
  order(&p[4], &p[2]);
  out[y * width + x] = p[4];
}

__kernel void bilateral(__global float *out, __global const float *in, int width, int height, float sharpness) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height) return;
  float own = in[y * width + x], sum = 0, weights = 0;
  for (int dy = -2; dy <= 2; dy++) {
    for (int dx = -2; dx <= 2; dx++) {
      int column = min(max(x + dx, 0), width - 1), row = min(max(y + dy, 0), height - 1);
      float other = in[row * width + column], unlike = other - own;
      float weight = NEAR[dx * dx + dy * dy] * native_exp(-unlike * unlike * sharpness);
      sum += weight * other;
      weights += weight;
    }
  }
  out[y * width + x] = sum / weights;
}

__kernel void canny_edges(__global uchar *out, __global const uchar *in, int width, int height, int low,
                          int high) {
  __local uchar grey[SIDE + 4][SIDE + 4];
  __local short across[SIDE + 2][SIDE + 2];
  __local short down[SIDE + 2][SIDE + 2];
  int tx = get_local_id(0), ty = get_local_id(1), t = ty * SIDE + tx;
  int left = (int)get_group_id(0) * SIDE, top = (int)get_group_id(1) * SIDE;

  for (int k = t; k < (SIDE + 4) * (SIDE + 4); k += SIDE * SIDE) {
    int r = k / (SIDE + 4), c = k % (SIDE + 4);
    int row = min(max(top + r - 2, 0), height - 1), column = min(max(left + c - 2, 0), width - 1);
    grey[r][c] = in[row * width + column];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = t; k < (SIDE + 2) * (SIDE + 2); k += SIDE * SIDE) {
    int r = k / (SIDE + 2), c = k % (SIDE + 2);
    across[r][c] = grey[r][c + 2] + 2 * grey[r + 1][c + 2] + grey[r + 2][c + 2] - grey[r][c] -
                   2 * grey[r + 1][c] - grey[r + 2][c];
    down[r][c] = grey[r + 2][c] + 2 * grey[r + 2][c + 1] + grey[r + 2][c + 2] - grey[r][c] -
                 2 * grey[r][c + 1] - grey[r][c + 2];
  }
  barrier(CLK_LOCAL_MEM_FENCE);

  int gx = across[ty + 1][tx + 1], gy = down[ty + 1][tx + 1];
  int ax = abs(gx), ay = abs(gy), size = ax + ay, dx, dy;
  if (5 * ay < 2 * ax) {
    dx = 1;
    dy = 0;
  } else if (2 * ay > 5 * ax) {
    dx = 0;
    dy = 1;
  } else {
    dx = 1;
    dy = (gx ^ gy) < 0 ? -1 : 1;
  }
  int ahead = abs(across[ty + 1 + dy][tx + 1 + dx]) + abs(down[ty + 1 + dy][tx + 1 + dx]);
  int behind = abs(across[ty + 1 - dy][tx + 1 - dx]) + abs(down[ty + 1 - dy][tx + 1 - dx]);
  uchar kind = 0;
  if (size >= ahead && size > behind) kind = size >= high ? 255 : size >= low ? 128 : 0;
  if (left + tx < width && top + ty < height) out[(top + ty) * width + left + tx] = kind;
}

void cubic(float *w, float t) {
  w[0] = ((-0.5f * t + 1.0f) * t - 0.5f) * t;
  w[1] = (1.5f * t - 2.5f) * t * t + 1.0f;
  w[2] = ((-1.5f * t + 2.0f) * t + 0.5f) * t;
  w[3] = (0.5f * t - 0.5f) * t * t;
}

__kernel void resize_bicubic(__global uchar4 *out, __global const uchar4 *in, int width, int height,
                             int old_width, int old_height) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height) return;
  float u = (x + 0.5f) * old_width / width - 0.5f, v = (y + 0.5f) * old_height / height - 0.5f;
  int left = (int)floor(u), top = (int)floor(v);
  float wx[4], wy[4];
  cubic(wx, u - left);
  cubic(wy, v - top);
  float r = 0, g = 0, b = 0, a = 0;
  for (int j = 0; j < 4; j++) {
    int row = min(max(top + j - 1, 0), old_height - 1);
    for (int i = 0; i < 4; i++) {
      int column = min(max(left + i - 1, 0), old_width - 1);
      uchar4 pixel = in[row * old_width + column];
      float w = wx[i] * wy[j];
      r += w * pixel.x;
      g += w * pixel.y;
      b += w * pixel.z;
      a += w * pixel.w;
    }
  }
  out[y * width + x] = (uchar4)((uchar)(fmin(fmax(r, 0.0f), 255.0f) + 0.5f),
                                   (uchar)(fmin(fmax(g, 0.0f), 255.0f) + 0.5f),
                                   (uchar)(fmin(fmax(b, 0.0f), 255.0f) + 0.5f),
                                   (uchar)(fmin(fmax(a, 0.0f), 255.0f) + 0.5f));
}

int mirror(int at, int size) {
  return at < 0 ? -at : at >= size ? 2 * size - 2 - at : at;
}

__kernel void demosaic(__global uchar4 *out, __global const uchar *raw, int width, int height) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height) return;
  __global const uchar *above = raw + mirror(y - 1, height) * width, *here = raw + y * width;
  __global const uchar *below = raw + mirror(y + 1, height) * width;
  int left = mirror(x - 1, width), right = mirror(x + 1, width);
  int own = here[x];
  int sides = (here[left] + here[right] + 1) / 2, ends = (above[x] + below[x] + 1) / 2;
  int plus = (here[left] + here[right] + above[x] + below[x] + 2) / 4;
  int cross = (above[left] + above[right] + below[left] + below[right] + 2) / 4;
  uchar4 pixel;
  if (y % 2 == 0) {
    if (x % 2 == 0) pixel = (uchar4)(own, plus, cross, 255);
    else pixel = (uchar4)(sides, own, ends, 255);
  } else {
    if (x % 2 == 0) pixel = (uchar4)(ends, own, sides, 255);
    else pixel = (uchar4)(cross, plus, own, 255);
  }
  out[y * width + x] = pixel;
}

__kernel void dct_quantise(__global short *out, __global const uchar *in, int pitch) {
  __local float block[8][8];
  __local float half_[8][8];
  int tx = get_local_id(0), ty = get_local_id(1);
  int at = ((int)get_group_id(1) * 8 + ty) * pitch + (int)get_group_id(0) * 8 + tx;
  block[ty][tx] = in[at] - 128.0f;
  barrier(CLK_LOCAL_MEM_FENCE);
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 8; k++) sum += COSINES[ty * 8 + k] * block[k][tx];
  half_[ty][tx] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  sum = 0;
#pragma unroll
  for (int k = 0; k < 8; k++) sum += half_[ty][k] * COSINES[tx * 8 + k];
  out[at] = (short)rint(sum / STEPS_OF[ty * 8 + tx]);
}

// Grids and particles: heat, diffusion, waves, fluids, gravity, molecules.

#define EDGE 16
#define STEPS 2

// Two steps of heat on a chip; tiles overlap by what the steps take from their edges.
extern "C" __global__ void hotspot_tile(const float *power, const float *in, float *out, int side, float rx, float ry,
                                        float rz, float step) {
  __shared__ float temp[EDGE][EDGE];
  __shared__ float heat[EDGE][EDGE];
  int tx = threadIdx.x, ty = threadIdx.y;
  int x = blockIdx.x * (EDGE - 2 * STEPS) + tx - STEPS, y = blockIdx.y * (EDGE - 2 * STEPS) + ty - STEPS;
  bool inside = x >= 0 && x < side && y >= 0 && y < side;
  if (inside) {
    temp[ty][tx] = in[y * side + x];
    heat[ty][tx] = power[y * side + x];
  }
  __syncthreads();
  int north = y == 0 ? ty : ty - 1, south = y == side - 1 ? ty : ty + 1;
  int west = x == 0 ? tx : tx - 1, east = x == side - 1 ? tx : tx + 1;
  for (int s = 1; s <= STEPS; s++) {
    bool busy = inside && tx >= s && tx < EDGE - s && ty >= s && ty < EDGE - s;
    float next = 0;
    if (busy) {
      float own = temp[ty][tx];
      next = own + step * (heat[ty][tx] + (temp[south][tx] + temp[north][tx] - 2.0f * own) * ry +
                           (temp[ty][east] + temp[ty][west] - 2.0f * own) * rx + (80.0f - own) * rz);
    }
    __syncthreads();
    if (busy) temp[ty][tx] = next;
    __syncthreads();
  }
  if (inside && tx >= STEPS && tx < EDGE - STEPS && ty >= STEPS && ty < EDGE - STEPS)
    out[y * side + x] = temp[ty][tx];
}

// Speckle-reducing diffusion, first half: derivatives and coefficients. Neighbours come from tables of indices.
extern "C" __global__ void srad_coefficients(const float *image, float *c, float *dn, float *ds, float *dw, float *de,
                                             const int *up, const int *down, const int *left, const int *right,
                                             float q0, int rows, int cols) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= rows * cols) return;
  int row = id / cols, col = id % cols;
  float own = image[id];
  float n = image[up[row] * cols + col] - own, s = image[down[row] * cols + col] - own;
  float w = image[row * cols + left[col]] - own, e = image[row * cols + right[col]] - own;
  float g2 = (n * n + s * s + w * w + e * e) / (own * own);
  float l = (n + s + w + e) / own;
  float num = 0.5f * g2 - 1.0f / 16.0f * (l * l), den = 1.0f + 0.25f * l;
  float q = num / (den * den);
  float value = 1.0f / (1.0f + (q - q0) / (q0 * (1.0f + q0)));
  if (value < 0.0f) value = 0.0f;
  else if (value > 1.0f) value = 1.0f;
  c[id] = value;
  dn[id] = n;
  ds[id] = s;
  dw[id] = w;
  de[id] = e;
}

#define WX 32
#define WY 8

// A step of the wave equation in space, fourth order: a plane in shared memory, the column along z in registers.
extern "C" __global__ void wave3d(float *out, const float *now, const float *before, const float *speed, int nx, int ny,
                                  int nz) {
  __shared__ float plane[WY + 4][WX + 4];
  int tx = threadIdx.x + 2, ty = threadIdx.y + 2;
  int x = blockIdx.x * WX + threadIdx.x, y = blockIdx.y * WY + threadIdx.y;
  int layer = nx * ny, at = y * nx + x;
  bool inner = x >= 2 && x < nx - 2 && y >= 2 && y < ny - 2;
  float behind2 = now[at], behind1 = now[at + layer], own = now[at + 2 * layer], front1 = now[at + 3 * layer];
  for (int z = 2; z < nz - 2; z++) {
    float front2 = now[at + (z + 2) * layer];
    __syncthreads();
    plane[ty][tx] = own;
    if (threadIdx.x < 2) {
      if (x >= 2) plane[ty][tx - 2] = now[z * layer + at - 2];
      if (x + WX < nx) plane[ty][tx + WX] = now[z * layer + at + WX];
    }
    if (threadIdx.y < 2) {
      if (y >= 2) plane[ty - 2][tx] = now[z * layer + at - 2 * nx];
      if (y + WY < ny) plane[ty + WY][tx] = now[z * layer + at + WY * nx];
    }
    __syncthreads();
    if (inner) {
      float sum = -7.5f * own;
      sum += 1.33333333f * (plane[ty][tx - 1] + plane[ty][tx + 1] + plane[ty - 1][tx] + plane[ty + 1][tx] + behind1 +
                            front1);
      sum -= 0.08333333f * (plane[ty][tx - 2] + plane[ty][tx + 2] + plane[ty - 2][tx] + plane[ty + 2][tx] + behind2 +
                            front2);
      int here = z * layer + at;
      out[here] = 2.0f * own - before[here] + speed[here] * sum;
    }
    behind2 = behind1;
    behind1 = own;
    own = front1;
    front1 = front2;
  }
}

__constant__ int CX[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
__constant__ int CY[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
__constant__ int BACK[9] = {0, 3, 4, 1, 2, 7, 8, 5, 6};
__constant__ float WEIGHT[9] = {4.0f / 9,  1.0f / 9,  1.0f / 9,  1.0f / 9, 1.0f / 9,
                                1.0f / 36, 1.0f / 36, 1.0f / 36, 1.0f / 36};

// Lattice Boltzmann: pull from the neighbours, bounce back at solid cells, collide.
extern "C" __global__ void lbm_d2q9(const float *in, float *out, const unsigned char *solid, float omega, int width,
                                    int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  int cells = width * height, at = y * width + x;
  float f[9];
  for (int q = 0; q < 9; q++) {
    int fx = (x - CX[q] + width) % width, fy = (y - CY[q] + height) % height;
    f[q] = in[q * cells + fy * width + fx];
  }
  if (solid[at]) {
    for (int q = 0; q < 9; q++) out[q * cells + at] = f[BACK[q]];
    return;
  }
  float rho = 0, ux = 0, uy = 0;
  for (int q = 0; q < 9; q++) {
    rho += f[q];
    ux += CX[q] * f[q];
    uy += CY[q] * f[q];
  }
  ux /= rho;
  uy /= rho;
  float square = 1.5f * (ux * ux + uy * uy);
  for (int q = 0; q < 9; q++) {
    float along = 3.0f * (CX[q] * ux + CY[q] * uy);
    float rest = WEIGHT[q] * rho * (1.0f + along + 0.5f * along * along - square);
    out[q * cells + at] = f[q] + omega * (rest - f[q]);
  }
}

struct Flux {
  float h, n, t;
};

// Rusanov's flux of height, momentum across the face and momentum along it.
__device__ Flux face(float hl, float nl, float tl, float hr, float nr, float tr) {
  float ul = hl > 1e-3f ? nl / hl : 0.0f, ur = hr > 1e-3f ? nr / hr : 0.0f;
  float fast = fmaxf(fabsf(ul) + sqrtf(9.81f * hl), fabsf(ur) + sqrtf(9.81f * hr));
  Flux f;
  f.h = 0.5f * (nl + nr) - 0.5f * fast * (hr - hl);
  f.n = 0.5f * (nl * ul + 4.905f * hl * hl + nr * ur + 4.905f * hr * hr) - 0.5f * fast * (nr - nl);
  f.t = 0.5f * (tl * ul + tr * ur) - 0.5f * fast * (tr - tl);
  return f;
}

// A step of the shallow-water equations by finite volumes.
extern "C" __global__ void shallow_water(const float *h, const float *hu, const float *hv, float *oh, float *ohu,
                                         float *ohv, float scale, int side) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= side - 1 || y >= side - 1) return;
  int c = y * side + x, w = c - 1, e = c + 1, s = c - side, n = c + side;
  Flux fw = face(h[w], hu[w], hv[w], h[c], hu[c], hv[c]);
  Flux fe = face(h[c], hu[c], hv[c], h[e], hu[e], hv[e]);
  Flux fs = face(h[s], hv[s], hu[s], h[c], hv[c], hu[c]);
  Flux fn = face(h[c], hv[c], hu[c], h[n], hv[n], hu[n]);
  oh[c] = h[c] - scale * (fe.h - fw.h + fn.h - fs.h);
  ohu[c] = hu[c] - scale * (fe.n - fw.n + fn.t - fs.t);
  ohv[c] = hv[c] - scale * (fe.t - fw.t + fn.n - fs.n);
}

// Gravity of all bodies on all, by tiles of bodies in shared memory.
extern "C" __global__ void nbody_tile(float4 *force, const float4 *bodies, float soft, int n) {
  __shared__ float4 tile[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
  float4 own = bodies[i];
  float ax = 0, ay = 0, az = 0;
  for (int first = 0; first < n; first += 256) {
    tile[t] = bodies[first + t];
    __syncthreads();
#pragma unroll 4
    for (int j = 0; j < 256; j++) {
      float4 other = tile[j];
      float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
      float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + soft);
      float s = other.w * inverse * inverse * inverse;
      ax += dx * s;
      ay += dy * s;
      az += dz * s;
    }
    __syncthreads();
  }
  force[i] = make_float4(ax, ay, az, 0.0f);
}

// Lennard-Jones forces from lists of neighbours: entry j of all atoms side by side, with a cutoff, periodic.
extern "C" __global__ void lj_neighbours(float4 *force, const float4 *atoms, const int *list, const int *counts,
                                         float box, float cutoff, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 own = atoms[i];
  float fx = 0, fy = 0, fz = 0, energy = 0;
  int count = counts[i];
  for (int j = 0; j < count; j++) {
    float4 other = atoms[list[j * n + i]];
    float dx = own.x - other.x, dy = own.y - other.y, dz = own.z - other.z;
    dx -= box * rintf(dx / box);
    dy -= box * rintf(dy / box);
    dz -= box * rintf(dz / box);
    float r2 = dx * dx + dy * dy + dz * dz;
    if (r2 < cutoff) {
      float i2 = 1.0f / r2, i6 = i2 * i2 * i2;
      float f = i2 * i6 * (48.0f * i6 - 24.0f);
      fx += dx * f;
      fy += dy * f;
      fz += dz * f;
      energy += 4.0f * i6 * (i6 - 1.0f);
    }
  }
  force[i] = make_float4(fx, fy, fz, 0.5f * energy);
}

// Densities of particles sorted by cells: those of the 27 cells around.
extern "C" __global__ void sph_density(float *density, const float *x, const float *y, const float *z,
                                       const int *cells, int side, float size, float mass, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float px = x[i], py = y[i], pz = z[i], h2 = size * size, sum = 0;
  int cx = (int)(px / size), cy = (int)(py / size), cz = (int)(pz / size);
  for (int dz = -1; dz <= 1; dz++)
    for (int dy = -1; dy <= 1; dy++)
      for (int dx = -1; dx <= 1; dx++) {
        int ox = cx + dx, oy = cy + dy, oz = cz + dz;
        if (ox < 0 || oy < 0 || oz < 0 || ox >= side || oy >= side || oz >= side) continue;
        int cell = (oz * side + oy) * side + ox;
        for (int k = cells[cell]; k < cells[cell + 1]; k++) {
          float ax = x[k] - px, ay = y[k] - py, az = z[k] - pz;
          float r2 = ax * ax + ay * ay + az * az;
          if (r2 < h2) {
            float q = h2 - r2;
            sum += q * q * q;
          }
        }
      }
  density[i] = mass * 315.0f / (64.0f * 3.14159265f * powf(size, 9.0f)) * sum;
}

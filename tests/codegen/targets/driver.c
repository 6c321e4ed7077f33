/* Runs compiled kernels on a processor that Python does not run on: an image from a file in, one out.
 *
 * KERNELS lists the functions and WORD(name) the places in a context; both come from the test. An image is a
 * sequence of 64-bit words and of bytes padded to words, in the order in which they are read here.
 */
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"

static FILE *in, *out;

static void *room(int64_t bytes) {
  void *place = NULL;
  if (posix_memalign(&place, 128, bytes + 8192)) abort();
  memset(place, 0, bytes + 8192);
  return place;
}

static int64_t word(void) {
  int64_t value;
  if (fread(&value, 8, 1, in) != 1) abort();
  return value;
}

static void *bytes(int64_t count) {
  char *place = room(count);
  if (count && fread(place, 1, (count + 7) / 8 * 8, in) != (size_t)(count + 7) / 8 * 8) abort();
  return place;
}

static void give_way(void) { sched_yield(); }

static void run(int64_t (*kernel)(int64_t *)) {
  int64_t context[WORDS] = {0}, control[8] = {0};
  control[2] = INT64_MAX; /* no block has faulted */
  WORD(next_block) = (int64_t)&control[0];
  WORD(stop) = (int64_t)&control[1];
  WORD(limit) = (int64_t)&control[2];
  WORD(turn) = (int64_t)&control[3];
  WORD(retire) = (int64_t)&control[4];
  WORD(give_way) = (int64_t)give_way;
  WORD(chunk) = WORD(alone) = 1;
  WORD(grid_x) = word();
  WORD(grid_y) = word();
  WORD(grid_z) = word();
  WORD(block_count) = WORD(grid_x) * WORD(grid_y) * WORD(grid_z);
  WORD(shared_size) = word();
  WORD(shared) = (int64_t)room(WORD(shared_size));
  WORD(frames) = (int64_t)room(word());
  WORD(local) = (int64_t)room(word());
  WORD(sites) = (int64_t)room(word());
  int64_t warps = word();
  WORD(states) = (int64_t)room(4 * warps);
  WORD(waits) = (int64_t)room(8 * 16 * warps);
  WORD(barriers) = (int64_t)room(4096);
  WORD(counters) = (int64_t)room(8);
  WORD(threads) = (int64_t)bytes(word());
  WORD(parameters) = (int64_t)bytes(word());
  int64_t count = word();
  int64_t *ranges = room(32 * count);
  for (int64_t k = 0; k < count; k++) {
    int64_t *row = ranges + 4 * k;
    row[0] = word();
    row[1] = word();
    row[3] = word();
    int is_shared = (int)word();
    row[2] = (is_shared ? WORD(shared) : (int64_t)bytes(row[1])) - row[0];
  }
  WORD(ranges) = (int64_t)ranges;
  WORD(range_count) = count;
  int64_t code = kernel(context);
  fwrite(&code, 8, 1, out);
  for (int64_t k = 0; k < count; k++) {
    int64_t *row = ranges + 4 * k;
    if (row[0] + row[2] != WORD(shared)) fwrite((char *)(row[0] + row[2]), 1, row[1], out);
  }
}

int main(int argc, char **argv) {
  static int64_t (*const kernels[])(int64_t *) = {KERNELS};
  in = fopen(argv[1], "rb");
  out = fopen(argv[2], "wb");
  if (argc != 3 || !in || !out) return 1;
  for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) run(kernels[k]);
  return fclose(out) ? 1 : 0;
}

/*
 * Times each validator of a shared object on the launches that standard input holds for it: a million calls, each timed by
 * itself less what the clock takes. Prints index, calls that said yes, median and 99.99th percentile in nanoseconds.
 */
#define _POSIX_C_SOURCE 199309L
#include "selvage-idempotency.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define CALLS 1000000

static uint32_t times[CALLS];

static int by_time(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

static int64_t now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return at.tv_sec * INT64_C(1000000000) + at.tv_nsec;
}

struct allocations {
  unsigned count;
  struct selvage_range ranges[16];
};

/* The allocation of a launch that holds an address. */
static int allocation(void *context, uint64_t address, uint64_t *start, uint64_t *bytes) {
  const struct allocations *all = context;
  for (unsigned i = 0; i < all->count; i += 1) {
    if (address - all->ranges[i].start >= all->ranges[i].bytes) continue;
    *start = all->ranges[i].start;
    *bytes = all->ranges[i].bytes;
    return 1;
  }
  return 0;
}

static bool nothing(const struct selvage_launch *launch) { return launch->argument_bytes == SIZE_MAX; }

/* Calls a validator on all launches in turn; returns how often it said yes. */
static unsigned measure(bool (*volatile validator)(const struct selvage_launch *), const struct selvage_launch *launches,
                        unsigned count) {
  unsigned yes = 0;
  for (unsigned call = 0, which = 0; call < CALLS; call += 1, which = which + 1 == count ? 0 : which + 1) {
    int64_t start = now();
    bool answer = validator(&launches[which]);
    int64_t taken = now() - start;
    times[call] = taken > UINT32_MAX ? UINT32_MAX : (uint32_t)taken;
    yes += answer;
  }
  qsort(times, CALLS, sizeof times[0], by_time);
  return yes;
}

static uint32_t word(void) {
  uint32_t value;
  if (fread(&value, sizeof value, 1, stdin) != 1) exit(1);
  return value;
}

int main(void) {
  for (const struct selvage_validator *v = selvage_validators; v->kernel; v += 1) {
    unsigned count = word();
    struct selvage_launch *launches = calloc(count, sizeof *launches);
    unsigned char *arguments = malloc(count * v->argument_bytes + 1);
    struct allocations *known = calloc(count, sizeof *known);
    if (!launches || !arguments || !known) return 1;
    for (unsigned i = 0; i < count; i += 1) {
      struct selvage_launch *launch = &launches[i];
      for (int axis = 0; axis < 3; axis += 1) launch->grid[axis] = word();
      for (int axis = 0; axis < 3; axis += 1) launch->block[axis] = word();
      launch->dynamic_shared = word();
      known[i].count = word();
      if (known[i].count > 16) return 1;
      if (fread(known[i].ranges, sizeof known[i].ranges[0], known[i].count, stdin) != known[i].count) return 1;
      launch->allocation = allocation;
      launch->context = &known[i];
      launch->arguments = arguments + i * v->argument_bytes;
      launch->argument_bytes = v->argument_bytes;
      if (fread((void *)launch->arguments, 1, v->argument_bytes, stdin) != v->argument_bytes) return 1;
    }
    measure(nothing, launches, count);
    uint32_t clock_median = times[CALLS / 2];
    unsigned yes = measure(v->is_idempotent, launches, count);
    uint32_t median = times[CALLS / 2], high = times[CALLS - CALLS / 10000 - 1];
    printf("%u %u %u\n", yes, median > clock_median ? median - clock_median : 0, high > clock_median ? high - clock_median : 0);
    free(known);
    free(launches);
    free(arguments);
  }
  return 0;
}

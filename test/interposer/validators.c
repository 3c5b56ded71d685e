/* Validators written by hand, as `selvage idempotency --emit` writes them. CODE_HASH names the PTX text of the test. */
#include <string.h>

#include "selvage-idempotency.h"

static uint64_t word(const struct selvage_launch *launch, size_t offset) {
  uint64_t value;
  memcpy(&value, (const char *)launch->arguments + offset, sizeof value);
  return value;
}

static int32_t integer(const struct selvage_launch *launch, size_t offset) {
  int32_t value;
  memcpy(&value, (const char *)launch->arguments + offset, sizeof value);
  return value;
}

static bool apart(uint64_t a, uint64_t b, uint64_t bytes) { return a + bytes <= b || b + bytes <= a; }

/* vectorAdd(const float *a, const float *b, float *c, int n): c must not overlap a or b. */
static bool vector_add(const struct selvage_launch *launch) {
  int32_t n = integer(launch, 24);
  if (n <= 0) return true;
  uint64_t bytes = 4 * (uint64_t)n, c = word(launch, 16);
  return apart(c, word(launch, 0), bytes) && apart(c, word(launch, 8), bytes);
}

static size_t vector_add_written(const struct selvage_launch *launch, struct selvage_range *ranges, size_t capacity) {
  int32_t n = integer(launch, 24);
  if (capacity > 0) ranges[0] = (struct selvage_range){word(launch, 16), n > 0 ? 4 * (uint64_t)n : 0};
  return 1;
}

static bool never(const struct selvage_launch *launch) { return (void)launch, false; }

/* fill(float *p, int n): needs that n elements behind p are in its allocation. */
static bool fill(const struct selvage_launch *launch) {
  uint64_t start, bytes, p = word(launch, 0);
  if (!launch->allocation || !launch->allocation(launch->context, p, &start, &bytes)) return false;
  return p + 4 * (uint64_t)integer(launch, 8) <= start + bytes;
}

/* useSymbol(float *p): must not lead to the variable `counter`. */
static bool use_symbol(const struct selvage_launch *launch) {
  uint64_t counter;
  if (!launch->symbol || !launch->symbol(launch->context, "counter", &counter)) return false;
  return word(launch, 0) != counter;
}

static bool always(const struct selvage_launch *launch) { return (void)launch, true; }

static const struct selvage_parameter three_and_count[] = {{0, 8}, {8, 8}, {16, 8}, {24, 4}};
static const uint32_t three[] = {0, 8, 16};

const uint32_t selvage_validators_version = SELVAGE_VALIDATORS_VERSION;
const struct selvage_validator selvage_validators[] = {
    {"vectorAdd", CODE_HASH, 28, vector_add, three_and_count, 4, three, 3, vector_add_written},
    {.kernel = "vectorInc", .code_hash = CODE_HASH, .argument_bytes = 12, .is_idempotent = never},
    {.kernel = "fill", .code_hash = CODE_HASH, .argument_bytes = 12, .is_idempotent = fill},
    {.kernel = "useSymbol", .code_hash = CODE_HASH, .argument_bytes = 8, .is_idempotent = use_symbol},
    {.kernel = "nothing", .code_hash = CODE_HASH, .argument_bytes = 0, .is_idempotent = always},
    {.kernel = "misfit", .code_hash = CODE_HASH, .argument_bytes = 16, .is_idempotent = always},
    {.kernel = NULL},
};

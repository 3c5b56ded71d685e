/*
 * What generated validators are made of: integers of up to 127 bits, and comparisons of sets of addresses. Needs gcc or
 * clang, for `__int128`. Nothing is allocated, and nothing outside of the launch is read.
 *
 * A number or a condition that is not known has a `bool` beside it that says so. The program that wrote the validators has
 * the same procedures in TypeScript.
 */
#ifndef SELVAGE_VALIDATOR_H
#define SELVAGE_VALIDATOR_H

#include "selvage-idempotency.h"

#include <string.h>

#if !defined(__SIZEOF_INT128__) || !defined(__BYTE_ORDER__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "validators need a compiler with __int128, and a machine whose integers begin with their lowest byte"
#endif

#define SELVAGE_INLINE static inline __attribute__((always_inline, unused))
#define SELVAGE_RARE static __attribute__((noinline, unused))

__extension__ typedef __int128 selvage_wide;
__extension__ typedef unsigned __int128 selvage_unsigned;

/* ---- Numbers ---- */

/* A constant of 128 bits, of its upper and its lower half. */
#define SELVAGE_WIDE(upper, lower) ((selvage_wide)(((selvage_unsigned)(upper) << 64) | (lower)))
#define SELVAGE_MOST ((selvage_wide)(~(selvage_unsigned)0 >> 1))

/* The sum, if both are known and it needs at most 127 bits beside the sign. */
SELVAGE_INLINE selvage_wide selvage_sum(selvage_wide a, selvage_wide b, bool *known) {
  selvage_wide sum;
  if (__builtin_add_overflow(a, b, &sum) || sum < -SELVAGE_MOST) {
    *known = false;
    return 0;
  }
  return sum;
}

SELVAGE_RARE selvage_wide selvage_large_product(selvage_wide a, selvage_wide b, bool *known) {
  selvage_unsigned x = a < 0 ? -(selvage_unsigned)a : (selvage_unsigned)a;
  selvage_unsigned y = b < 0 ? -(selvage_unsigned)b : (selvage_unsigned)b;
  if (x == 0 || y == 0) return 0;
  if (x > (selvage_unsigned)SELVAGE_MOST / y) {
    *known = false;
    return 0;
  }
  selvage_wide product = (selvage_wide)(x * y);
  return (a < 0) != (b < 0) ? -product : product;
}

/* The product, if both are known and it needs at most 127 bits beside the sign. */
SELVAGE_INLINE selvage_wide selvage_product(selvage_wide a, selvage_wide b, bool *known) {
  if (a == (int64_t)a && b == (int64_t)b) return a * b;
  return selvage_large_product(a, b, known);
}

/* Rounded towards minus infinity; the divisor is positive. */
SELVAGE_INLINE selvage_wide selvage_quotient(selvage_wide dividend, selvage_wide divisor) {
  return dividend / divisor - (dividend % divisor < 0);
}

SELVAGE_INLINE selvage_wide selvage_remainder(selvage_wide dividend, selvage_wide divisor) {
  selvage_wide remainder = dividend % divisor;
  return remainder < 0 ? remainder + divisor : remainder;
}

/* Of numbers that are not negative. */
SELVAGE_INLINE selvage_wide selvage_shift_left(selvage_wide a, selvage_wide by, bool *known) {
  if (a == 0) return 0;
  if (by > 126 || a > SELVAGE_MOST >> (int)by) {
    *known = false;
    return 0;
  }
  return (selvage_wide)((selvage_unsigned)a << (int)by);
}

SELVAGE_INLINE selvage_wide selvage_shift_right(selvage_wide a, selvage_wide by) {
  return by > 126 ? 0 : a >> (int)by;
}

/* ---- The launch ---- */

/* Whether a device can accept the launch, and its arguments are as many bytes as the kernel has. */
SELVAGE_INLINE bool selvage_is_legal(const struct selvage_launch *launch, size_t argument_bytes) {
  const uint32_t *grid = launch->grid, *block = launch->block;
  return launch->argument_bytes == argument_bytes && grid[0] - 1u < 2147483647u && grid[1] - 1u < 65535u &&
         grid[2] - 1u < 65535u && block[0] - 1u < 1024u && block[1] - 1u < 1024u && block[2] - 1u < 64u &&
         block[0] * block[1] * block[2] <= 1024u;
}

/* The argument of this type that begins at the offset. */
#define SELVAGE_ARGUMENT(type) \
  SELVAGE_INLINE type selvage_argument_##type(const struct selvage_launch *launch, size_t offset) { \
    type value; \
    memcpy(&value, (const unsigned char *)launch->arguments + offset, sizeof value); \
    return value; \
  }
SELVAGE_ARGUMENT(int8_t)
SELVAGE_ARGUMENT(uint8_t)
SELVAGE_ARGUMENT(int16_t)
SELVAGE_ARGUMENT(uint16_t)
SELVAGE_ARGUMENT(int32_t)
SELVAGE_ARGUMENT(uint32_t)
SELVAGE_ARGUMENT(int64_t)
SELVAGE_ARGUMENT(uint64_t)

/* The allocation that holds the address. Not known where the answer does not hold it. */
SELVAGE_RARE bool selvage_allocation(const struct selvage_launch *launch, selvage_wide address, uint64_t found[2]) {
  found[0] = found[1] = 0;
  if (!launch->allocation || address < 0 || address > UINT64_MAX) return false;
  if (!launch->allocation(launch->context, (uint64_t)address, &found[0], &found[1])) return false;
  return found[0] <= (uint64_t)address && (uint64_t)address - found[0] < found[1];
}

SELVAGE_RARE bool selvage_symbol(const struct selvage_launch *launch, const char *name, uint64_t *address) {
  *address = 0;
  return launch->symbol && launch->symbol(launch->context, name, address);
}

/* ---- Sets of addresses ---- */

struct selvage_step {
  uint64_t stride, last; /* both positive */
};

/* `low + sum of stride * i + b` for `0 <= i <= last` and `0 <= b < bytes`; all of it below 2^64. */
struct selvage_set {
  uint64_t low;
  uint64_t span; /* what the steps add at most */
  uint64_t bytes;
  unsigned count;
  bool empty, unknown;
  struct selvage_step steps[SELVAGE_STEPS];
};

SELVAGE_INLINE void selvage_begin(struct selvage_set *set, selvage_wide base, bool known, uint64_t bytes) {
  set->low = (uint64_t)base;
  set->span = 0;
  set->bytes = bytes;
  set->count = 0;
  set->empty = false;
  set->unknown = !known || base < 0 || base > UINT64_MAX;
}

SELVAGE_INLINE void selvage_add(struct selvage_set *set, selvage_wide stride, bool stride_known, selvage_wide count,
                                bool count_known) {
  if (!count_known) {
    set->unknown = true;
    return;
  }
  if (count <= 0) {
    set->empty = true;
    return;
  }
  if (!stride_known) set->unknown = true;
  if (set->unknown || stride == 0 || count == 1) return;
  selvage_wide last = count - 1;
  bool backwards = stride < 0;
  if (backwards) stride = -stride;
  uint64_t way;
  if (stride > UINT64_MAX || last > UINT64_MAX ||
      __builtin_mul_overflow((uint64_t)stride, (uint64_t)last, &way) || (backwards && way > set->low) ||
      __builtin_add_overflow(set->span, way, &set->span)) {
    set->unknown = true;
    return;
  }
  if (backwards) set->low -= way;
  set->steps[set->count].stride = (uint64_t)stride;
  set->steps[set->count].last = (uint64_t)last;
  set->count += 1;
}

/* What leaves the 64 bits of addresses is not known. */
SELVAGE_INLINE void selvage_end(struct selvage_set *set) {
  uint64_t last;
  if (__builtin_add_overflow(set->low, set->span, &last) || last > UINT64_MAX - (set->bytes - 1)) set->unknown = true;
}

struct selvage_wide_step {
  uint64_t stride;
  selvage_wide last;
};

/* Puts steps in a row, the largest stride first; those of one stride become one. The row has room for all. */
SELVAGE_RARE unsigned selvage_merge(struct selvage_wide_step *row, unsigned count, const struct selvage_set *set) {
  for (unsigned i = 0; i < set->count; i += 1) {
    uint64_t stride = set->steps[i].stride;
    unsigned at = count;
    while (at > 0 && row[at - 1].stride < stride) at -= 1;
    if (at > 0 && row[at - 1].stride == stride) {
      row[at - 1].last += set->steps[i].last;
      continue;
    }
    for (unsigned j = count; j > at; j -= 1) row[j] = row[j - 1];
    row[at].stride = stride;
    row[at].last = set->steps[i].last;
    count += 1;
  }
  return count;
}

struct selvage_comparison {
  struct selvage_wide_step steps[2 * SELVAGE_STEPS];
  selvage_wide spans[2 * SELVAGE_STEPS + 1];
  selvage_wide least, most;
  unsigned count;
  int left;
};

/* Whether `difference` and multiples of the strides from `from` on avoid all of `least` to `most`. */
SELVAGE_RARE bool selvage_misses(struct selvage_comparison *c, selvage_wide difference, unsigned from) {
  selvage_wide span = c->spans[from];
  if (difference > c->most || difference + span < c->least) return true;
  if (c->left == 0) return false;
  c->left -= 1;
  uint64_t divisor = 0;
  for (unsigned next = from + 1; next <= c->count; next += 1) {
    for (uint64_t other = c->steps[next - 1].stride; other;) {
      uint64_t rest = divisor % other;
      divisor = other;
      other = rest;
    }
    selvage_wide rest = c->spans[next];
    selvage_wide first = -selvage_quotient(difference + rest - c->least, divisor);
    selvage_wide last = selvage_quotient(c->most - difference, divisor);
    selvage_wide end = (span - rest) / divisor;
    if (first < 0) first = 0;
    if (last > end) last = end;
    if (first > last) return true;
    if (next == c->count || last - first >= 4) continue;
    bool all = true;
    for (selvage_wide k = first; all && k <= last; k += 1)
      all = selvage_misses(c, difference + k * divisor, next);
    if (all) return true;
  }
  return false;
}

SELVAGE_INLINE uint64_t selvage_divisor(uint64_t divisor, const struct selvage_set *set) {
  for (unsigned i = 0; i < set->count; i += 1) {
    for (uint64_t other = set->steps[i].stride; other;) {
      uint64_t rest = divisor % other;
      divisor = other;
      other = rest;
    }
  }
  return divisor;
}

SELVAGE_RARE bool selvage_strides_apart(const struct selvage_set *a, const struct selvage_set *b) {
  /* Modulo the greatest common divisor of all strides, which is cheap and decides most. There is a step. */
  uint64_t divisor = selvage_divisor(selvage_divisor(0, a), b);
  uint64_t offset = b->low >= a->low ? (b->low - a->low) % divisor : (a->low - b->low) % divisor;
  if (b->low < a->low && offset > 0) offset = divisor - offset;
  if (offset >= a->bytes && b->bytes <= divisor && offset <= divisor - b->bytes) return true;
  struct selvage_comparison c;
  c.count = selvage_merge(c.steps, selvage_merge(c.steps, 0, a), b);
  c.spans[c.count] = 0;
  for (unsigned i = c.count; i > 0; i -= 1) c.spans[i - 1] = c.spans[i] + c.steps[i - 1].stride * c.steps[i - 1].last;
  c.least = 1 - (selvage_wide)b->bytes;
  c.most = (selvage_wide)a->bytes - 1;
  c.left = 32;
  return selvage_misses(&c, (selvage_wide)b->low - a->low - a->span, 0);
}

/* Whether the sets have no byte in common: by their ranges, or modulo strides. */
SELVAGE_INLINE bool selvage_apart(const struct selvage_set *a, const struct selvage_set *b, bool *known) {
  if (a->empty || b->empty) return true;
  if (a->unknown || b->unknown) {
    *known = false;
    return false;
  }
  if (a->low + a->span + (a->bytes - 1) < b->low || b->low + b->span + (b->bytes - 1) < a->low) return true;
  return a->count + b->count > 0 && selvage_strides_apart(a, b);
}

/* The smallest steps of a row become part of the bytes, where they leave no gap. */
SELVAGE_RARE unsigned selvage_nest(const struct selvage_wide_step *row, unsigned count, selvage_wide *bytes) {
  for (; count > 0 && row[count - 1].stride <= *bytes; count -= 1) *bytes += row[count - 1].stride * row[count - 1].last;
  return count;
}

SELVAGE_RARE bool selvage_covers(const struct selvage_set *outer, const struct selvage_set *inner) {
  struct selvage_wide_step a[SELVAGE_STEPS], b[SELVAGE_STEPS];
  selvage_wide bytes = inner->bytes, whole = outer->bytes;
  unsigned inner_count = selvage_nest(a, selvage_merge(a, 0, inner), &bytes);
  unsigned outer_count = selvage_nest(b, selvage_merge(b, 0, outer), &whole);
  for (unsigned i = 0; i < inner_count; i += 1) {
    unsigned along = 0;
    for (; along < outer_count; along += 1)
      if (a[i].stride % b[along].stride == 0 && a[i].stride / b[along].stride * a[i].last <= b[along].last) break;
    if (along == outer_count) bytes += a[i].stride * a[i].last;
    else b[along].last -= a[i].stride / b[along].stride * a[i].last;
  }
  if (inner->low < outer->low) return false;
  selvage_wide offset = inner->low - outer->low;
  for (unsigned i = 0; i < outer_count; i += 1) {
    selvage_wide far = offset / b[i].stride;
    offset -= b[i].stride * (far < b[i].last ? far : b[i].last);
  }
  return offset + bytes <= whole;
}

/* Whether every byte of the inner set lies in the outer one. */
SELVAGE_INLINE bool selvage_within(const struct selvage_set *inner, const struct selvage_set *outer, bool *known) {
  if (inner->empty) return true;
  if (inner->unknown || outer->unknown || outer->empty) {
    *known = false;
    return false;
  }
  return selvage_covers(outer, inner);
}

/* The range of a set, behind those that are there. */
SELVAGE_INLINE void selvage_range_of(const struct selvage_set *set, struct selvage_range *ranges, size_t capacity,
                                     size_t *count, bool *known) {
  if (set->empty) return;
  if (set->unknown) *known = false;
  if (*count < capacity) {
    ranges[*count].start = set->low;
    ranges[*count].bytes = set->span + set->bytes;
  }
  *count += 1;
}

#endif
